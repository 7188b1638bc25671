import { PermanentError } from '../model/errors.ts';

/** A kind of object as the API server's URLs name it. */
export interface Resource {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  /** The plural. */
  readonly resource: string;
}

/** The path of all objects of a resource, in one namespace or (undefined) everywhere: `/apis/apps/v1/namespaces/shop/deployments`. */
export function listPath({ apiVersion, resource }: Resource, namespace?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace === undefined ? `${root}/${resource}` : `${root}/namespaces/${segment(namespace)}/${resource}`;
}

/** The path of one namespaced object. Throws PermanentError(InvalidPolicy) for what cannot be a name: names come from users' policies. */
export function objectPath(resource: Resource, namespace: string, name: string): string {
  return `${listPath(resource, namespace)}/${segment(name)}`;
}

/** The path of one Namespace. Throws PermanentError(InvalidPolicy) for what cannot be a name. */
export function namespacePath(namespace: string): string {
  return `/api/v1/namespaces/${segment(namespace)}`;
}

/** A name that is a path of its own (`..`, `a/b`, empty) would address another object than the one it was checked for. */
function segment(name: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9.:_-]*[A-Za-z0-9])?$/.test(name) && name.length <= 253) return encodeURIComponent(name);
  throw new PermanentError('InvalidPolicy', `"${name.slice(0, 100)}" cannot be the name of a Kubernetes object`);
}
