/** What the API server had as the policies whose images checks have a veto on, at any time. */
import type { CheckRecord } from '../../src/core/model/check-record.ts';
import { defined } from '../../src/core/model/defined.ts';
import { actionAnnotations, releaseTime } from '../../src/core/model/policy-actions.ts';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { fieldsOf, isObject, type JsonObject } from '../../src/core/model/untyped.ts';
import type { ApiObject } from './api-server.ts';
import { partsOf } from './images.ts';
import { appliedTag, type ImagePatch } from './patch-log.ts';
import { policyNamespace, type PolicySetup } from './setup.ts';
import { policies, type World } from './world.ts';

/** Whether a check has said no, or nothing in time, about an image of a policy: then the newest image need not run, and one that was rolled back may come again. */
export function isVetoed({ name }: PolicySetup, world: World): boolean {
  return statesOf(name, world).some(({ records }) => records.some(({ state }) => state === 'Failed' || state === 'TimedOut'));
}

/** Whether no answer came in time from a check of an image: then it was rolled back for no fault of its own, and is tried again. */
export function hasTimedOut({ name }: PolicySetup, patch: ImagePatch, world: World): boolean {
  return statesOf(name, world).some(({ records }) => records.some((record) => record.state === 'TimedOut' && isAbout(record, patch)));
}

/** What the API server had as the policy, as far as it concerns checks. */
export interface PolicyState {
  readonly since: number;
  readonly uid: string;
  readonly checks: readonly JsonObject[];
  readonly records: readonly CheckRecord[];
  readonly released: number | undefined;
}

function stateOf(since: number, { metadata, spec, status }: ApiObject): PolicyState {
  const { checks } = fieldsOf(spec['rollout']);
  const { checks: records = [] } = readStatus(status);
  const release = metadata.annotations?.[actionAnnotations.release];
  return {
    since,
    uid: metadata.uid,
    checks: Array.isArray(checks) ? checks.filter(isObject) : [],
    records,
    released: releaseTime(defined({ release }))?.getTime(),
  };
}

const known = new WeakMap<World['history'], Map<string, PolicyState[]>>();

/** The states of a policy; each is read once. */
export function statesOf(name: string, { history }: World): readonly PolicyState[] {
  const byName = known.get(history) ?? new Map<string, PolicyState[]>();
  known.set(history, byName);
  const read = byName.get(name) ?? [];
  byName.set(name, read);
  const all = history.statesOf(policies, policyNamespace, name).filter(({ object }) => object !== undefined);
  for (const { since, object } of all.slice(read.length)) if (object !== undefined) read.push(stateOf(since, object));
  return read;
}

/** Whether a record of a check is about the image of a change. */
export function isAbout({ tag, digest }: Pick<CheckRecord, 'tag' | 'digest'>, patch: ImagePatch): boolean {
  const applied = partsOf(patch.to).digest ?? patch.record.digest;
  return tag === appliedTag(patch) && (digest === undefined || applied === '' || digest === applied);
}
