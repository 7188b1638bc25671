/** One line about each command of the wing, known before the command is loaded. */
export const summaries = {
  bases: 'show which images are built on a base image, and which of them are behind',
  'bases init': 'write policies for the lines of a base that are used',
  rebase: 'replace the base of an image in its registry',
} as const;
