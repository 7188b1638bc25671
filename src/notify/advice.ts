/** Advice for operators about a failed request. Pure. */

/** The advice for the status of a response; undefined if only waiting helps. */
export function adviceOnStatus(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'redirects are not followed: configure the URL that it leads to';
  if (status === 400 || status === 415 || status === 422) return 'check that `kind` of the target is what receives its messages';
  if (status === 401 || status === 403 || status === 404 || status === 410) return 'check that the URL of the target is still valid';
  return status === 413 ? 'raise the limit of the receiver' : undefined;
}
