import type { HandleServerError } from '@sveltejs/kit';
import { ApiError } from '$lib/api';

/** Prints the errors of the API as one line, and all others with their stack. */
export const handleError: HandleServerError = ({ error, message }) => {
  if (error instanceof ApiError) {
    console.error(error.message);
    return { message: error.message };
  }
  console.error(error);
  return { message };
};
