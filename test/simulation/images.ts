/** The images of the simulation: repositories, digests that say which build they are, and short names for stories. */
export const registryHost = 'registry.example.com';
export const web = `${registryHost}/shop/web`;
export const api = `${registryHost}/shop/api`;

/** The digest of a build, by its number. */
export function digestOf(build: number): string {
  return `sha256:${build.toString(16).padStart(64, '0')}`;
}

/** The number of a build. */
export function buildOf(digest: string): number {
  return Number.parseInt(digest.slice(-8), 16);
}

/** Text with short names: `web:1.0.2@#3`. */
export function shorten(text: string): string {
  return text
    .replaceAll(`${registryHost}/shop/`, '')
    .replaceAll(`${registryHost}/`, '')
    .replaceAll(/sha256:0*([0-9a-f]+)/g, (_, build: string) => `#${build.length > 8 ? build.slice(0, 6) : Number.parseInt(build, 16)}`);
}

/** The parts of an image's name. */
export function partsOf(image: string): { readonly repository: string; readonly tag: string; readonly digest: string | undefined } {
  const [, repository = '', tag = '', digest] = /^(.+?)(?::([\w.-]+))?(?:@(sha256:[0-9a-f]+))?$/.exec(image) ?? [];
  return { repository, tag, digest };
}
