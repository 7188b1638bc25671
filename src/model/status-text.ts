/** Times in a status have whole seconds (metav1.Time). */
export function toSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Cuts a text to the length of its field, with an ellipsis: the API server would reject the whole status for a longer one. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
