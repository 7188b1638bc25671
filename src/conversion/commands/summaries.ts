/** What each command of the wing does in one line: known before it is loaded. */
export const summaries = {
  crd: 'print the CustomResourceDefinitions, apply them to a cluster, migrate stored policies',
} as const;
