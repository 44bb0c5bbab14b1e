"use strict";

SwaggerUIBundle({
  dom_id: "#docs",
  url: document.getElementById("docs").dataset.document,
  deepLinking: true,
  displayOperationId: true,
  validatorUrl: null, // its default is a host of others
});
