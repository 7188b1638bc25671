/** metav1.Time has seconds. */
export function toSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** The text, or as much of it as fits with an ellipsis: what is longer than its field would be refused with the whole status. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
