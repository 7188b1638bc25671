import type { ClaimedPush } from '../../model/push-event.ts';

/** The specification knows four of images. */
const maxQualifiers = 32;

/**
 * The image that a package URL of type `oci` names, or undefined when it is of another type:
 * `pkg:oci/app@sha256%3A…?repository_url=registry.example.com/team/app&tag=v1` (https://github.com/package-url/purl-spec).
 */
export function readOciPurl(purl: string): ClaimedPush | undefined {
  const [, encodedName = '', version = '', query = ''] = /^pkg:\/*oci\/([^/@?#]+)(?:@([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/i.exec(purl) ?? [];
  const name = decode(encodedName).toLowerCase();
  if (name === '') return undefined;
  const qualifiers = new Map(query.split('&', maxQualifiers).map(readQualifier));
  const [registry = '', ...path] = (qualifiers.get('repository_url') ?? '')
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '')
    .split('/');
  // Some write the name once more at the end of repository_url, as the specification's examples do, some do not.
  const repository = (path.at(-1)?.toLowerCase() === name ? path : [...path, name]).join('/');
  const tag = qualifiers.get('tag');
  const digest = decode(version);
  return { repository, ...(registry && { registry }), ...(tag && { tag }), ...(digest && { digest }) };
}

function readQualifier(text: string): [key: string, value: string] {
  const equals = text.indexOf('=');
  return equals === -1 ? ['', ''] : [text.slice(0, equals).toLowerCase(), decode(text.slice(equals + 1))];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
