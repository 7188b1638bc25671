/** The names in a list of references to Secrets, such as imagePullSecrets; what is no reference is left out. */
export function projectSecretNames(references: unknown): string[] {
  if (!Array.isArray(references)) return [];
  return references.flatMap((reference: unknown) => {
    const name = typeof reference === 'object' && reference !== null && 'name' in reference ? reference.name : undefined;
    return typeof name === 'string' && name !== '' ? [name] : [];
  });
}
