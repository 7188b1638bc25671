/** What each command of the wing does in one line: known before it is loaded. */
export const summaries = {
  notify: 'send a test message to the targets of notifications',
} as const;
