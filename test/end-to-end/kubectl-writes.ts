/** The requests by which kubectl writes a file to a policy that exists, as `kubectl -v=8` shows them. */
import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../../src/core/model/untyped.ts';
import type { Policy } from '../service/resources/objects.ts';
import { namespace, type TwoVersions, type Version } from './two-versions-world.ts';

/** What a user has in a file. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations?: Record<string, string> };
  readonly spec: JsonObject;
}

/** A command of kubectl: what makes a policy of a file, and what writes the file again. */
export interface Way {
  create(world: TwoVersions, file: Manifest): Promise<Policy>;
  write(world: TwoVersions, file: Manifest): Promise<Policy>;
}

/** A file in one of the versions. */
export function fileOf(version: Version, name: string, spec: JsonObject): Manifest {
  return { apiVersion: `operator.technomad.dev/${version}`, kind: 'ImagePolicy', metadata: { name, namespace }, spec };
}

/** `kubectl patch --type merge --patch-file`. */
export const patch: Way = {
  create: (world, file) => post(world, file, 'kubectl-create'),
  write: (world, file) => mergePatch(world, file, { spec: file.spec }, 'kubectl-patch'),
};

/** `kubectl apply`. */
export const apply: Way = {
  create: (world, file) => post(world, withLastApplied(file), 'kubectl-client-side-apply'),
  async write(world, file) {
    const live = await world.read(versionOf(file), file.metadata.name);
    const before = JSON.parse(live.metadata.annotations?.[lastApplied] ?? '{}') as JsonObject;
    return mergePatch(world, file, threeWayPatch(before, withLastApplied(file), live), 'kubectl-client-side-apply');
  },
};

/** `kubectl apply --server-side --force-conflicts`. */
export const serverSideApply: Way = {
  create: (world, file) => serverSideApply.write(world, file),
  write: (world, file) => {
    const query = 'fieldManager=kubectl&fieldValidation=Strict&force=true';
    return world.cluster.request('PATCH', `${pathOf(world, file)}?${query}`, file, 'application/apply-patch+yaml');
  },
};

/** `kubectl replace` of a file. */
export const replace: Way = {
  create: patch.create,
  async write(world, file) {
    const { resourceVersion } = (await world.read(versionOf(file), file.metadata.name)).metadata;
    return put(world, file, { ...file, metadata: { ...file.metadata, resourceVersion } });
  },
};

/** `kubectl get --output yaml`, another spec in it, `kubectl replace`. */
export const replaceWhatWasRead: Way = {
  create: patch.create,
  async write(world, file) {
    const live = await world.read(versionOf(file), file.metadata.name);
    return put(world, file, { ...live, spec: file.spec });
  },
};

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const versionOf = ({ apiVersion }: Manifest): Version => (apiVersion.endsWith('/v1') ? 'v1' : 'v1alpha1');
const pathOf = (world: TwoVersions, file: Manifest) => world.pathOf(versionOf(file), file.metadata.name);

function post(world: TwoVersions, file: Manifest, manager: string): Promise<Policy> {
  return world.cluster.request('POST', `${world.pathOf(versionOf(file))}?fieldManager=${manager}&fieldValidation=Strict`, file);
}

function put(world: TwoVersions, file: Manifest, object: object): Promise<Policy> {
  return world.cluster.request('PUT', `${pathOf(world, file)}?fieldManager=kubectl-replace&fieldValidation=Strict`, object);
}

function mergePatch(world: TwoVersions, file: Manifest, body: object, manager: string): Promise<Policy> {
  return world.cluster.request('PATCH', `${pathOf(world, file)}?fieldManager=${manager}`, body);
}

function withLastApplied(file: Manifest): Manifest {
  const { annotations = {}, ...metadata } = file.metadata;
  const text = `${JSON.stringify({ ...file, metadata: { annotations, ...metadata } })}\n`;
  return { ...file, metadata: { ...metadata, annotations: { ...annotations, [lastApplied]: text } } };
}

/** Writes what the file has and the object has not; deletes what the file had when it was applied last and has no more. */
function threeWayPatch(before: JsonObject, wanted: object, live: object): JsonObject {
  const patch: Record<string, unknown> = {};
  const old = new Map(Object.entries(live));
  for (const [key, value] of Object.entries(wanted)) {
    const [then, now]: unknown[] = [before[key], old.get(key)];
    if (isDeepStrictEqual(value, now)) continue;
    const inner = isObject(value) && isObject(now) ? threeWayPatch(isObject(then) ? then : {}, value, now) : value;
    if (!isObject(inner) || Object.keys(inner).length > 0) patch[key] = inner;
  }
  for (const key of Object.keys(before)) if (!Object.hasOwn(wanted, key)) patch[key] = null;
  return patch;
}
