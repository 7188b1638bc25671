/** What must hold where checks have a veto: what the endpoint was asked and said, and what the API server had as the status, decide. */
import type { CheckRecord } from '../../src/core/model/check-record.ts';
import { fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import { heldBy } from './chart-kinds.ts';
import type { Question } from './check-endpoint.ts';
import { isAbout, statesOf, type PolicyState } from './checked-policies.ts';
import { shorten } from './images.ts';
import { boundOf, confirmedForMs, describe, isRollback, setupOf } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import type { ImagePatch } from './patch-log.ts';
import type { PolicySetup } from './setup.ts';
import type { World } from './world.ts';

/** How old the view of a replica may be when it begins a check: the longest silence of a watch, and of a frozen process. */
const longestBehindMs = 40_000;

export const checkInvariants: readonly Invariant[] = [
  {
    name: 'each check gives one verdict on each image',
    promise:
      'A verdict is never replaced. A check of an image is begun again only after a release, an edit of the check, another image or a timeout.',
    atEnd: (world) => checkedIn(world).flatMap((setup) => [...replacedVerdicts(setup, world), ...needlessBegins(setup, world)]),
  },
  {
    name: 'all questions about an image are the same one',
    promise:
      'Every question of one check on one image has the id that the status had before it was asked, and that id belongs to no other image.',
    atEnd: (world) =>
      world.endpoint.questions.flatMap((question) => {
        const isWritten = statesOf(question.policy, world).some(
          ({ since, records }) => since <= question.sentAt && records.some((record) => isOf(record, question)),
        );
        return isWritten ? [] : [`${nameOf(question)} was asked before it was written that it has begun`];
      }),
  },
  {
    name: 'what has a verdict is not asked again',
    promise: 'A check whose verdict is written is not asked again.',
    atEnd: (world) =>
      world.endpoint.questions.flatMap((question) => {
        const verdict = statesOf(question.policy, world).find(({ records }) =>
          records.some((one) => one.id === question.id && isOver(one)),
        );
        const lateMs = question.sentAt - (verdict?.since ?? Infinity);
        return lateMs <= confirmedForMs + world.network.slowestMs('imagepolicies')
          ? []
          : [`${nameOf(question)} was asked ${lateMs} ms after its verdict`];
      }),
  },
  {
    name: 'a verdict is what the endpoint said',
    promise:
      'A check passes after a good answer, fails after more bad answers than are forgiven, and otherwise has no verdict before its timeout.',
    atEnd: (world) => checkedIn(world).flatMap((setup) => inventedVerdicts(setup, world)),
  },
  {
    name: 'a check that has begun gets a verdict',
    promise: 'When faults end and nobody interferes, every check has a verdict.',
    atEnd(world) {
      if (world.hasInterference) return [];
      return checkedIn(world).flatMap(({ name }) =>
        (statesOf(name, world).at(-1)?.records ?? [])
          .filter((record) => !isOver(record) && !isOvertaken(record, name, world))
          .map((record) => `${nameOf(record)} has no verdict`),
      );
    },
  },
  {
    name: 'nothing is changed before its checks have passed',
    promise: 'An image is applied only when the status says that each check of the phase before has passed on it.',
    onPatch(patch, world) {
      if (!isChange(patch, world)) return undefined;
      const states = statesWithin(patch, world);
      const isPassed = ({ checks, records, released }: PolicyState) =>
        checks
          .filter(({ phase }) => phase === 'before')
          .every(({ name }) =>
            records.some(
              (record) =>
                record.name === name &&
                isAbout(record, patch) &&
                record.state === 'Passed' &&
                // To a clock that was set back, the time of a release is still to come.
                (counts(record, released) || world.hasSetClock),
            ),
          );
      return states.some(isPassed) ? undefined : describe(patch);
    },
  },
  {
    name: 'what a check has failed is not applied',
    promise:
      'An image that a check has failed is not applied again, unless somebody releases it, edits the check, or another image was applied since.',
    onPatch(patch, world) {
      if (!isChange(patch, world)) return undefined;
      const states = statesWithin(patch, world);
      const { name = '' } = setupOf(patch, world) ?? {};
      const failedIn = ({ checks, records, released }: PolicyState) =>
        records.find(
          (record) =>
            record.state === 'Failed' &&
            isAbout(record, patch) &&
            // The latest comes first: an edited check gives another verdict.
            records.find((one) => one.name === record.name && isAbout(one, patch)) === record &&
            counts(record, released) &&
            checks.some((one) => one.name === record.name) &&
            !isOvertaken(record, name, world),
        );
      const failed = states.map(failedIn);
      return failed.every((record) => record !== undefined) && failed[0] !== undefined
        ? `${describe(patch)}, on which ${failed[0].name} has failed`
        : undefined;
    },
  },
  {
    name: 'what a check has failed goes back',
    promise:
      'When faults end and nobody interferes, no target runs an image that a check of the phases during or after has failed, with onFailure: Rollback.',
    atEnd(world) {
      if (world.hasInterference) return [];
      return checkedIn(world).flatMap(({ name, container, spec }) => {
        if (fieldsOf(spec['rollout'])['onFailure'] !== 'Rollback') return [];
        const failed = (statesOf(name, world).at(-1)?.records ?? []).filter(({ phase, state }) => phase !== 'before' && state === 'Failed');
        return world.setup.workloads.flatMap(({ resource, namespace, name: workload, images }) => {
          if (images[container] === undefined) return [];
          const object = world.server.get(resource, namespace, workload);
          const image = (object && heldBy(object).get(container)) ?? '';
          const written = world.patches.all.findLast(({ to, after }) => to === image && after.metadata.name === workload);
          const bad = written && failed.find((record) => isAbout(record, written));
          return bad === undefined ? [] : [`${workload} runs ${shorten(image)}, on which ${bad.name} has failed`];
        });
      });
    },
  },
];

function checkedIn({ setup }: World): PolicySetup[] {
  return setup.policies.filter(({ hasChecks }) => hasChecks === true);
}

/** The states of its policy that a change may have been made by. */
function statesWithin(patch: ImagePatch, world: World): PolicyState[] {
  const { name = '' } = setupOf(patch, world) ?? {};
  const [from, to] = boundOf(patch, world);
  const states = statesOf(name, world).filter(({ since }) => since <= to);
  return states.filter((state, index) => (states[index + 1]?.since ?? Infinity) > from);
}

function isChange(patch: ImagePatch, world: World): boolean {
  return patch.isOurs && !isRollback(patch) && setupOf(patch, world)?.hasChecks === true;
}

function isOver({ state }: CheckRecord): boolean {
  return state !== 'Running';
}

function isOf({ id, name, phase, tag, digest = '' }: CheckRecord, question: Question): boolean {
  return id === question.id && name === question.check && phase === question.phase && tag === question.tag && digest === question.digest;
}

/** Whether a release does not ask for another verdict. */
function counts({ startedAt }: CheckRecord, released: number | undefined): boolean {
  return released === undefined || released < Date.parse(startedAt);
}

/** Whether another image was applied since a check has begun. */
function isOvertaken(record: CheckRecord, policy: string, world: World): boolean {
  const begun = statesOf(policy, world).find(({ records }) => records.some(({ id }) => id === record.id));
  if (begun === undefined) return false;
  return world.patches.all.some(
    (patch) =>
      patch.record.policy === begun.uid &&
      !isRollback(patch) &&
      patch.at > begun.since - confirmedForMs - world.network.slowestMs() &&
      !isAbout(record, patch),
  );
}

function nameOf(one: (Pick<CheckRecord, 'name' | 'tag' | 'id'> & { readonly digest?: string | undefined }) | Question): string {
  const name = 'check' in one ? one.check : one.name;
  return `${name} of ${shorten(`${one.tag}@${one.digest ?? ''}`)} (${one.id.slice(0, 6)})`;
}

/** The verdicts that another one has replaced. */
function replacedVerdicts({ name }: PolicySetup, world: World): string[] {
  const verdicts = new Map<string, CheckRecord>();
  return statesOf(name, world).flatMap(({ records }) =>
    records.flatMap((record) => {
      const before = verdicts.get(record.id);
      if (isOver(record)) verdicts.set(record.id, before ?? record);
      return before === undefined || (before.state === record.state && before.at === record.at)
        ? []
        : [`${nameOf(record)} was ${before.state}, and is ${record.state}`];
    }),
  );
}

/** The checks of an image that were begun again for no reason. */
function needlessBegins({ name: policy }: PolicySetup, world: World): string[] {
  const begins = new Map<string, { readonly record: CheckRecord; readonly state: PolicyState }>();
  const last = new Map<string, CheckRecord>();
  const states = statesOf(policy, world);
  const problems: string[] = [];
  for (const state of states)
    for (const record of state.records.toReversed()) {
      const isNew = !last.has(record.id);
      last.set(record.id, record);
      if (!isNew) continue;
      const { name, tag, digest = '' } = record;
      const key = `${state.uid} ${name} ${tag}@${digest}`;
      const before = begins.get(key);
      begins.set(key, { record, state });
      if (before === undefined || last.get(before.record.id)?.state === 'TimedOut') continue;
      const between = states.filter(({ since }, index) => {
        const end = states[index + 1]?.since ?? Infinity;
        return end > before.state.since - longestBehindMs && since <= state.since;
      });
      const settings = new Set(between.map(({ checks }) => JSON.stringify(checks.find((one) => one['name'] === name))));
      const isReleased = between.some(({ released }) => !counts(before.record, released));
      if (settings.size < 2 && !isReleased && !isOvertaken(before.record, policy, world))
        problems.push(`${nameOf(record)} was begun, although ${nameOf(before.record)} had ${last.get(before.record.id)?.state}`);
    }
  return problems;
}

/** The verdicts that do not follow from what the endpoint has said. */
function inventedVerdicts({ name: policy }: PolicySetup, world: World): string[] {
  const seen = new Set<string>();
  return statesOf(policy, world).flatMap(({ since, records, checks }) =>
    records.flatMap((record) => {
      if (!isOver(record) || seen.has(record.id)) return [];
      seen.add(record.id);
      const said = world.endpoint.questions.filter(({ id, at }) => id === record.id && at <= since).map(({ answer }) => answer);
      const bad = said.filter((answer) => answer === 'fail').length;
      const retries = Number(checks.find(({ name }) => textOrEmpty(name) === record.name)?.['retries'] ?? 0);
      const isTrue =
        record.state === 'Passed'
          ? said.includes('pass')
          : record.state === 'Failed'
            ? bad > 0 && (world.hasInterference || bad > retries)
            : true;
      return isTrue ? [] : [`${nameOf(record)} is ${record.state}, after ${said.join(', ') || 'no answer'}`];
    }),
  );
}
