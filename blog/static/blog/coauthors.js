// The list of co-authors is in the order in which they were chosen. Select2 would keep the place of one who was removed.
const select = document.getElementById("id_coauthor_ids");
const { jQuery } = window.django;

jQuery(select).on("select2:select", ({ params }) => {
  const option = [...select.options].find(({ value }) => value === String(params.data.id));
  select.append(option);
  jQuery(select).trigger("change");
});
