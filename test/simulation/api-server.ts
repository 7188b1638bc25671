/**
 * The API server: objects with resourceVersion, uid, generation and managed fields; lists, watches, guarded patches. A change is in the list and in the log of
 * watches at the same moment; what it takes to reach a process is the business of the connection (`kube-connection.ts`).
 */
import { fieldsOf, isObject, isSameJson, textOrEmpty, type JsonObject } from '../../src/core/model/untyped.ts';
import type { KubeRequest } from '../../src/service/kube/client.ts';
import { kubeErrorFromStatus } from '../../src/service/kube/kube-error.ts';
import { discover, isChartResource } from './chart-kinds.ts';
import type { Version } from './process.ts';
import { asWanted } from './json-patch.ts';
import { nextManagers, toManagedFields, type Managers } from './managed-fields.ts';

export interface Metadata extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ApiObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
}

/** A change that the API server has made. */
export interface Change {
  readonly at: number;
  /** The field manager. */
  readonly by: string;
  /** `apps/v1/deployments`. */
  readonly resource: string;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
  /** For a request of a replica. */
  readonly request?: SentRequest | undefined;
}

/** Which process sent a request, and when. */
export interface SentRequest {
  readonly process: string;
  readonly version: Version;
  readonly sentAt: number;
}

/** One line of a watch. */
export interface LoggedEvent {
  readonly version: number;
  readonly resource: string;
  readonly namespace: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
}

/** What a path of the API names. */
export interface Place {
  readonly resource: string;
  readonly apiVersion: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** What a person or a controller changes. */
export interface Edit {
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
  readonly by: string;
}

export interface ApiServer {
  get(resource: string, namespace: string, name: string): ApiObject | undefined;
  all(resource: string): ApiObject[];
  create(edit: Edit, object: NewObject): void;
  edit(edit: Edit, change: (object: ApiObject) => ApiObject): void;
  delete(edit: Edit): void;
  /** Answers a request; throws KubeError. */
  handle(request: KubeRequest, sent: SentRequest): unknown;
  /** Calls the listener with each event from now on; returns the events since this version, or undefined where they are forgotten. */
  watch(
    place: Place,
    since: number,
    listener: (event: LoggedEvent) => void,
  ): { readonly missed: readonly LoggedEvent[]; readonly stop: () => void } | undefined;
  version(): number;
  /** Forgets the events up to now, as etcd's compaction does. */
  compact(): void;
  onChange(listener: (change: Change) => void): void;
  /** Answers lists of what is only derived from other objects, such as pods. */
  derive(resource: string, list: (namespace: string) => readonly JsonObject[]): void;
}

type NewObject = JsonObject & { readonly apiVersion: string; readonly kind: string; readonly spec: JsonObject } & Partial<NewMetadata>;

interface NewMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly JsonObject[];
}

const workloads = new Set(['apps/v1/deployments', 'apps/v1/statefulsets', 'apps/v1/daemonsets']);
/** Whether managed fields are kept: nobody asks for those of other objects. */
const isManaged = (resource: string) => workloads.has(resource) || isChartResource(resource);

/** An empty one. */
export function createApiServer(now: () => number): ApiServer {
  const stores = new Map<string, Map<string, ApiObject>>();
  const owners = new Map<string, Managers>();
  /** When the status of a workload was last changed, by uid. */
  const statusTimes = new Map<string, string>();
  const derived = new Map<string, (namespace: string) => readonly JsonObject[]>();
  const log: LoggedEvent[] = [];
  const watchers = new Set<(event: LoggedEvent) => void>();
  const listeners: ((change: Change) => void)[] = [];
  let version = 100;
  let compacted = 0;
  let uids = 0;

  const storeOf = (resource: string) => {
    const known = stores.get(resource) ?? new Map<string, ApiObject>();
    stores.set(resource, known);
    return known;
  };
  const seconds = () => `${new Date(now()).toISOString().slice(0, 19)}Z`;
  const publish = (type: LoggedEvent['type'], resource: string, object: ApiObject) => {
    const event = { version, resource, namespace: object.metadata.namespace ?? '', type, object };
    log.push(event);
    for (const watcher of watchers) watcher(event);
  };
  const notify = (change: Change) => {
    for (const listener of listeners) listener(change);
  };
  /** Stores a changed object, unless nothing has changed. */
  const store = (edit: Edit, before: ApiObject, changed: ApiObject, isStatus: boolean, request?: SentRequest): ApiObject => {
    const { resource, by } = edit;
    const isWorkload = isManaged(resource);
    const hasNewSpec = !isSameJson(before.spec, changed.spec);
    if (!hasNewSpec && isSameJson(before.status, changed.status) && isSameJson(bare(before), bare(changed))) return before;
    const { uid } = before.metadata;
    const managers = isStatus || !isWorkload ? owners.get(uid) : nextManagers(owners.get(uid) ?? new Map(), before, changed, by, seconds());
    if (managers !== undefined) owners.set(uid, managers);
    if (isStatus && isWorkload) statusTimes.set(uid, seconds());
    const metadata = {
      ...withoutEmpty(changed.metadata),
      uid,
      resourceVersion: String(++version),
      generation: before.metadata.generation + (hasNewSpec ? 1 : 0),
      ...(isWorkload && managers !== undefined && { managedFields: toManagedFields(managers, before.apiVersion, statusTimes.get(uid)) }),
    };
    const after = withTemplateGeneration(resource, { ...changed, metadata });
    storeOf(resource).set(keyOf(edit), deepFreeze(after));
    publish('MODIFIED', resource, after);
    notify({ at: now(), by, resource, before, after, request });
    return after;
  };
  const mustFind = (edit: Edit): ApiObject => {
    const found = storeOf(edit.resource).get(keyOf(edit));
    if (found === undefined) throw new Error(`${edit.resource} ${keyOf(edit)} does not exist`);
    return found;
  };

  const create = (edit: Edit, { labels, annotations, ownerReferences, ...object }: NewObject, request?: SentRequest): ApiObject => {
    const { resource, name, namespace, by } = edit;
    const uid = `${name}-${++uids}`;
    const given = { ...(labels && { labels }), ...(annotations && { annotations }), ...(ownerReferences && { ownerReferences }) };
    const metadata = {
      name,
      ...(namespace !== undefined && { namespace }),
      uid,
      resourceVersion: String(++version),
      generation: 1,
      ...given,
    };
    const bareObject: ApiObject = { ...object, metadata: withoutEmpty({ ...metadata, creationTimestamp: seconds() }) };
    const managers = nextManagers(new Map(), {}, bareObject, by, seconds());
    owners.set(uid, managers);
    const managed = isManaged(resource) ? { managedFields: toManagedFields(managers, object.apiVersion) } : {};
    const after = withTemplateGeneration(resource, { ...bareObject, metadata: { ...bareObject.metadata, ...managed } });
    storeOf(resource).set(keyOf(edit), deepFreeze(after));
    publish('ADDED', resource, after);
    notify({ at: now(), by, resource, before: undefined, after, request });
    return after;
  };
  const remove = (edit: Edit, request?: SentRequest): void => {
    const before = mustFind(edit);
    storeOf(edit.resource).delete(keyOf(edit));
    version++;
    publish('DELETED', edit.resource, { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } });
    notify({ at: now(), by: edit.by, resource: edit.resource, before, after: undefined, request });
  };
  /** Events are not kept. */
  const post = ({ resource, namespace }: Place, request: KubeRequest, sent: SentRequest): unknown => {
    const { body, query } = request;
    if (!stores.has(resource) || !isApiObject(body)) return {};
    const { labels, annotations, ownerReferences, name } = body.metadata;
    const edit = { resource, name, by: textOrEmpty(query?.['fieldManager']), ...(namespace !== undefined && { namespace }) };
    if (storeOf(resource).has(keyOf(edit))) throw refuse(request, 409, 'AlreadyExists');
    const { apiVersion, kind, spec } = body;
    const owned = Array.isArray(ownerReferences) && { ownerReferences: ownerReferences.filter(isObject) };
    return create(edit, { apiVersion, kind, spec, ...(labels && { labels }), ...(annotations && { annotations }), ...owned }, sent);
  };
  const destroy = ({ resource, namespace, name = '' }: Place, request: KubeRequest, sent: SentRequest): unknown => {
    const edit = { resource, name, by: sent.process, ...(namespace !== undefined && { namespace }) };
    const found = storeOf(resource).get(keyOf(edit));
    if (found === undefined) throw refuse(request, 404, 'NotFound');
    const { uid = found.metadata.uid } = fieldsOf(fieldsOf(request.body)['preconditions']);
    if (uid !== found.metadata.uid) throw refuse(request, 409, 'Conflict');
    remove(edit, sent);
    return {};
  };

  const list = ({ resource, namespace }: Place, { query = {}, accept = '' }: KubeRequest): unknown => {
    const make = derived.get(resource);
    const objects: readonly JsonObject[] = make?.(namespace ?? '') ?? [...storeOf(resource).values()];
    const selector = textOrEmpty(query['labelSelector']).split(',').filter(Boolean);
    const items = objects.filter((object) => {
      const { namespace: own, labels } = metadataOf(object);
      return (namespace === undefined || own === namespace) && selector.every((pair) => hasLabel(labels, pair));
    });
    return { metadata: { resourceVersion: String(version) }, items: isMetadataOnly(accept) ? items.map(partial) : items };
  };
  /** Changes an object by a patch, or puts another one in its place. */
  const change = (place: Place, request: KubeRequest, sent: SentRequest): ApiObject => {
    const { resource, namespace, name = '', subresource } = place;
    const by = textOrEmpty(request.query?.['fieldManager']);
    const edit = { resource, name, by, ...(namespace !== undefined && { namespace }) };
    const before = storeOf(resource).get(keyOf(edit));
    if (before === undefined) throw refuse(request, 404, 'NotFound');
    const patched = asWanted(before, request);
    if (!isApiObject(patched)) throw refuse(request, 422, 'Invalid');
    if (patched.metadata.uid !== before.metadata.uid) throw refuse(request, 409, 'Conflict');
    if (patched.metadata.resourceVersion !== before.metadata.resourceVersion) throw refuse(request, 409, 'Conflict');
    const changed = subresource === 'status' ? withStatus(before, patched.status) : withStatus(patched, before.status);
    return store(edit, before, changed, subresource === 'status', sent);
  };

  return {
    get: (resource, namespace, name) => storeOf(resource).get(keyOf({ namespace, name })),
    all: (resource) => [...storeOf(resource).values()],
    create: (edit, object) => void create(edit, object),
    edit(edit, change) {
      const before = mustFind(edit);
      const after = change(before);
      store(edit, before, after, after.status !== before.status);
    },
    delete: (edit) => remove(edit),
    handle(request, sent) {
      const discovered = request.method === 'GET' ? discover(request.path) : undefined;
      if (discovered !== undefined) return discovered;
      const place = placeOf(request.path);
      if (request.method === 'POST') return post(place, request, sent);
      if (request.method === 'DELETE') return destroy(place, request, sent);
      if (request.method === 'PATCH' || request.method === 'PUT') return change(place, request, sent);
      if (place.name === undefined) return list(place, request);
      const found = storeOf(place.resource).get(keyOf({ ...place, name: place.name }));
      if (found === undefined) throw refuse(request, 404, 'NotFound');
      return isMetadataOnly(request.accept ?? '') ? partial(found) : found;
    },
    watch({ resource, namespace }, since, listener) {
      if (since < compacted) return undefined;
      const isWanted = (event: LoggedEvent) =>
        event.resource === resource && (namespace === undefined || event.namespace === namespace) && event.version > since;
      const deliver = (event: LoggedEvent) => {
        if (isWanted(event)) listener(event);
      };
      const missed = log.filter(isWanted);
      watchers.add(deliver);
      return { missed, stop: () => void watchers.delete(deliver) };
    },
    version: () => version,
    compact() {
      compacted = version;
    },
    onChange: (listener) => void listeners.push(listener),
    derive: (resource, make) => void derived.set(resource, make),
  };
}

/** What a path names: `/apis/apps/v1/namespaces/shop/deployments/web/status`. */
export function placeOf(path: string): Place {
  const [, root = '', namespace, plural = '', name, subresource] =
    /^\/(api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
  const apiVersion = root.replace(/^apis?\//, '');
  return { resource: `${apiVersion}/${plural}`, apiVersion, namespace, name, subresource };
}

/** The metadata alone, where only they are asked for. */
export function partial({ apiVersion, kind, metadata }: JsonObject): JsonObject {
  return { apiVersion, kind, metadata };
}

export function isMetadataOnly(accept: string): boolean {
  return accept.includes('as=PartialObjectMetadata');
}

function keyOf({ namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function metadataOf(object: JsonObject): { readonly namespace?: string; readonly labels: JsonObject } {
  const { metadata } = object;
  const { namespace, labels } = isObject(metadata) ? metadata : {};
  return { ...(typeof namespace === 'string' && { namespace }), labels: isObject(labels) ? labels : {} };
}

function hasLabel(labels: JsonObject, pair: string): boolean {
  const [key = '', value] = pair.split('=');
  return labels[key] === value;
}

/** What is sent is not copied, so nobody may change it. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/** A DaemonSet as the API server shows it: with the number of its template, which its pods have as a label. */
function withTemplateGeneration(resource: string, object: ApiObject): ApiObject {
  if (resource !== 'apps/v1/daemonsets') return object;
  const { annotations, generation } = object.metadata;
  const number = { 'deprecated.daemonset.template.generation': String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...number } } };
}

/** The API server does not show maps without entries. */
function withoutEmpty(metadata: Metadata): Metadata {
  const { labels, annotations, ...rest } = metadata;
  const isFilled = (map: object | undefined) => map !== undefined && Object.keys(map).length > 0;
  return { ...rest, ...(isFilled(labels) && { labels }), ...(isFilled(annotations) && { annotations }) };
}

/** The metadata that users write. */
function bare({ metadata: { labels, annotations } }: ApiObject): JsonObject {
  return { labels, annotations };
}

function withStatus(object: ApiObject, status: JsonObject | undefined): ApiObject {
  const { status: _, ...rest } = object;
  return status === undefined ? { ...rest } : { ...rest, status };
}

function isApiObject(value: unknown): value is ApiObject {
  return isObject(value) && isObject(value['metadata']) && typeof value['kind'] === 'string';
}

function refuse({ method, path }: KubeRequest, code: number, reason: string): Error {
  return kubeErrorFromStatus(`${method} ${path}`, { code, reason, message: `${reason.toLowerCase()} (simulated)` });
}
