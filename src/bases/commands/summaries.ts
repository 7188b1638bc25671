/** What each command of the wing does in one line: known before it is loaded. */
export const summaries = {
  bases: 'show which images are built on a base image, and which of them are behind',
  rebase: 'replace the base of an image in its registry',
} as const;
