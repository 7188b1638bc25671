/** The option with a namespace, as kubectl has it. */
export function namespaceOption(about: string) {
  return { short: 'n', value: 'NAMESPACE', completes: 'namespace', about } as const;
}

/** An option whose value names a file. */
export function fileOption(about: string) {
  return { value: 'FILE', completes: 'file', about } as const;
}
