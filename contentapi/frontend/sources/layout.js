// Returns whether the explorer has one column, as on a phone. explorer.css has the same width.
export const isNarrow = () => matchMedia("(max-width: 46rem)").matches;
