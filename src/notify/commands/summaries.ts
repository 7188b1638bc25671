/** One line about each command of the wing, known before the command is loaded. */
export const summaries = {
  notify: 'send a test message to the targets of notifications',
} as const;
