/** The images of the simulation: repositories, builds, and short names for stories. */
import { numberOf } from './image-content.ts';

export const registryHost = 'registry.example.com';
export const web = `${registryHost}/shop/web`;
export const api = `${registryHost}/shop/api`;
export const store = `${registryHost}/shop/store`;
export const pair = `${registryHost}/shop/pair`;
export const sidecar = `${registryHost}/shop/sidecar`;
export const guarded = `${registryHost}/shop/guarded`;
export const scanned = `${registryHost}/shop/scanned`;
export const charts = `${registryHost}/shop/charts`;

/** The number of a build, by its digest; NaN for what is no build. */
export function buildOf(digest: string): number {
  return numberOf(digest) ?? Number.NaN;
}

/** Text with short names: `web:1.0.2@#3`. */
export function shorten(text: string): string {
  return text
    .replaceAll(`${registryHost}/shop/`, '')
    .replaceAll(`${registryHost}/`, '')
    .replaceAll(/sha256:([0-9a-f]+)/g, (digest, digits: string) => `#${numberOf(digest) ?? digits.slice(0, 6)}`);
}

/** The parts of an image's name. */
export function partsOf(image: string): { readonly repository: string; readonly tag: string; readonly digest: string | undefined } {
  const [, repository = '', tag = '', digest] = /^(.+?)(?::([\w.-]+))?(?:@(sha256:[0-9a-f]+))?$/.exec(image) ?? [];
  return { repository, tag, digest };
}
