/** One line about each command of the wing, known before the command is loaded. */
export const summaries = {
  history: 'show what happened, and what people asked for',
} as const;
