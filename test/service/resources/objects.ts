/** ImagePolicy objects for the tests of the conversion. */
import assert from 'node:assert/strict';
import { convertObject } from '../../../src/conversion/convert.ts';
import { matchesNothing } from '../../../src/conversion/specs/convert-spec.ts';
import { originAnnotation } from '../../../src/conversion/specs/old-spec.ts';
import { isObject, type JsonObject } from '../../../src/core/model/untyped.ts';
import { savedAnnotation } from '../../../src/conversion/specs/saved-v1.ts';

export const v1 = 'operator.technomad.dev/v1';
export const v1alpha1 = 'operator.technomad.dev/v1alpha1';

/** An object as the API server hands it to the webhook. */
export interface Policy {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly annotations?: Record<string, string> };
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

const metadata = { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7', generation: 2 };

/** A v1 object in the namespace shop. */
export function v1Policy(spec: unknown, more: object = {}): Policy {
  return { apiVersion: v1, kind: 'ImagePolicy', metadata, ...more, ...(spec !== undefined && { spec: spec as JsonObject }) };
}

/** A v1alpha1 object in the namespace shop. */
export function oldPolicy(spec: unknown, more: object = {}): Policy {
  return { apiVersion: v1alpha1, kind: 'ImagePolicy', metadata, ...more, ...(spec !== undefined && { spec: spec as JsonObject }) };
}

/** The view in v1alpha1, over the wire. */
export function down(object: unknown): Policy {
  return convert(object, v1alpha1);
}

/** The object in v1, over the wire. */
export function up(object: unknown): Policy {
  return convert(object, v1);
}

function convert(object: unknown, version: string): Policy {
  const before = JSON.stringify(object);
  const converted = convertObject(object, version);
  assert.equal(JSON.stringify(object), before, 'the input is not touched');
  return JSON.parse(JSON.stringify(converted)) as Policy;
}

/** Whether the view is the one that an older service cannot act on. */
export function isHidden(view: Policy): boolean {
  const tagPolicy = view.spec?.['tagPolicy'];
  return isObject(tagPolicy) && tagPolicy['strategy'] === 'Regex' && tagPolicy['pattern'] === matchesNothing;
}

/** The object without what conversion itself keeps in annotations and in the status. */
export function withoutNotes(object: Policy): Policy {
  const { annotations = {}, ...rest } = object.metadata;
  const others = Object.entries(annotations).filter(([key]) => key !== savedAnnotation && key !== originAnnotation);
  const { v1: _, ...shown } = object.status ?? {};
  return {
    ...object,
    metadata: others.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(others) },
    ...(object.status !== undefined && { status: shown }),
  };
}

/** A copy with another value at a path such as "spec.tagPolicy.pattern"; without it where the value is undefined. */
export function setAt<T extends object>(object: T, path: string, value: unknown): T {
  const copy = structuredClone(object);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let inner = copy as Record<string, unknown>;
  for (const key of keys) inner = (inner[key] ??= {}) as Record<string, unknown>;
  if (value === undefined) delete inner[last];
  else inner[last] = value;
  return copy;
}

/** The paths at which two values differ, "spec.targets.0.name"; empty objects are as good as none. */
export function differences(left: unknown, right: unknown, path = ''): string[] {
  if (!isBranch(left) && !isBranch(right)) return Object.is(left, right) ? [] : [path];
  const a = isBranch(left) ? left : {};
  const b = isBranch(right) ? right : {};
  const own = (left !== undefined && !isBranch(left)) || (right !== undefined && !isBranch(right)) ? [path] : [];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...own, ...[...keys].flatMap((key) => differences(valueOf(a, key), valueOf(b, key), path === '' ? key : `${path}.${key}`))];
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function valueOf(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}

/** The view with this text in the annotation of the v1 spec, and no other annotation. */
export function setAnnotation(view: Policy, text: string | undefined): Policy {
  return { ...view, metadata: { ...view.metadata, annotations: text === undefined ? {} : { [savedAnnotation]: text } } };
}
