/** The variants that builders omit: https://github.com/containerd/platforms, which the kubelet's runtime follows. */
const usualVariants: Readonly<Record<string, string>> = { arm64: 'v8', arm: 'v7', amd64: 'v1' };

/** The wanted platforms that an image lacks. A platform without a variant is satisfied by any variant. An image that omits its variant has the default one. */
export function missingPlatforms(wanted: readonly string[], has: readonly string[]): string[] {
  const present = new Set(has.flatMap((platform) => [withoutVariant(platform), withVariant(platform)]));
  return wanted.filter((platform) => !present.has(platform.split('/').length > 2 ? withVariant(platform) : platform));
}

/** Why an image that lacks platforms is not used: `1.3.0 has linux/amd64, not linux/arm64`. */
export function describeMissing(tag: string, missing: readonly string[], has: readonly string[]): string {
  return `${tag} has ${has.length === 0 ? 'no platform (it is no image)' : has.join(', ')}, not ${missing.join(', ')}`;
}

function withoutVariant(platform: string): string {
  return platform.split('/').slice(0, 2).join('/');
}

/** The platform with its variant: the named one, otherwise the usual one of its architecture (`linux/arm64/v8`). */
export function withVariant(platform: string): string {
  const [os = '', architecture = '', variant = usualVariants[architecture]] = platform.split('/');
  return [os, architecture, ...(variant === undefined ? [] : [variant])].join('/');
}
