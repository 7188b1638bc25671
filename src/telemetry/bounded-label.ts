/** The name given to what comes after the last that fits. */
export const otherLabel = 'other';

/** Tenants choose hosts of registries: as many of them are told apart. */
export const maxRegistryLabels = 200;

/** Keeps the first `limit` different values of a label that others choose, so that nobody can fill the metrics. */
export function createBoundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < limit) known.add(value);
    return known.has(value) ? value : otherLabel;
  };
}
