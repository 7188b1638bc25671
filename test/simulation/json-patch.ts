/** The changes that the service sends: whole objects, and two kinds of patches, JSON Patch (RFC 6902) with test, add and replace, and JSON Merge Patch (RFC 7386). */
import { isObject, isSameJson, type JsonObject } from '../../src/core/model/untyped.ts';
import type { KubeRequest } from '../../src/service/kube/client.ts';

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** The object as a request wants it: the patched one, or another in its place; undefined where a patch cannot be applied. */
export function asWanted(before: unknown, { method, contentType, body }: KubeRequest): unknown {
  if (method === 'PUT') return body;
  return contentType === 'application/merge-patch+json' ? applyMergePatch(before, body) : applyJsonPatch(before, readOperations(body));
}

/** The patched document; undefined where a test fails, or where a path leads nowhere. */
function applyJsonPatch(document: unknown, operations: readonly Operation[]): unknown {
  const copy: unknown = structuredClone(document);
  const isApplied = operations.every(({ op, path, value }) => {
    const steps = path.split('/').slice(1).map(unescape);
    const last = steps.pop() ?? '';
    const parent = steps.reduce<unknown>((at, step) => memberOf(at, step), copy);
    if (op === 'test') return isSameJson(memberOf(parent, last) ?? null, value);
    if (Array.isArray(parent)) {
      if (!(last in parent)) return false;
      parent[Number(last)] = value;
      return true;
    }
    if (!isObject(parent) || (op === 'replace' && !Object.hasOwn(parent, last))) return false;
    Object.assign(parent, { [last]: value });
    return true;
  });
  return isApplied ? copy : undefined;
}

/** The merged document: null removes a field. */
function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(merged[key], value);
  }
  return merged;
}

/** The operations of a request's body. */
function readOperations(body: unknown): Operation[] {
  return Array.isArray(body) ? body.flatMap((one: unknown) => (isOperation(one) ? [one] : [])) : [];
}

function isOperation(value: unknown): value is JsonObject & Operation {
  return isObject(value) && typeof value['op'] === 'string' && typeof value['path'] === 'string';
}

function memberOf(from: unknown, step: string): unknown {
  if (Array.isArray(from)) return from[Number(step)];
  return isObject(from) && Object.hasOwn(from, step) ? from[step] : undefined;
}

/** RFC 6901 §3. */
function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
