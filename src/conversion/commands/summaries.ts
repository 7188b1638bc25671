/** One line about each command of the wing, known before the command is loaded. */
export const summaries = {
  crd: 'print the CustomResourceDefinitions, apply them to a cluster, migrate stored policies',
} as const;
