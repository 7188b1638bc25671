/** What must hold where policies have rules about vulnerabilities: what the source of evidence had at the time decides. */
import { compare, valid } from 'semver';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { isAtLeast, type RuleSeverity, type ScanReport } from '../../src/core/model/vulnerabilities.ts';
import { heldBy } from './chart-kinds.ts';
import { kindOf } from './image-content.ts';
import { partsOf, shorten } from './images.ts';
import { boundOf, describe, isReleasedBy, isRollback, policyOf, setupOf } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import type { ImagePatch } from './patch-log.ts';
import { windowOpensMs, type ScanRules } from './scanned-setup.ts';
import { policyNow, type World } from './world.ts';

/** How long an answer of the registry, and with it the evidence, counts. */
const answerCountsMs = 20_000;

export const vulnerabilityInvariants: readonly Invariant[] = [
  {
    name: 'only a fix skips a wait',
    promise:
      'An image is not applied before its age, or outside of the windows, unless a scanner has reported it without a vulnerability that the same scanner has reported of what ran.',
    onPatch(patch, world) {
      const rules = rulesOf(patch, world);
      if (rules === undefined || world.hasSetClock) return undefined;
      const pushedAt = world.registry.pushedAt(partsOf(patch.to).repository, digestOf(patch.to)) ?? Infinity;
      const isYoung = rules.minAgeMs !== undefined && patch.sentAt < pushedAt + rules.minAgeMs;
      const isClosed = rules.hasWindow && patch.sentAt < world.startedAt + windowOpensMs;
      if (!isYoung && !isClosed) return undefined;
      return runningDigests(patch, world).some((running) => wasFixed(running, patch, { level: rules.fixes, world }))
        ? undefined
        : describe(patch);
    },
  },
  {
    name: 'no more vulnerabilities than what runs',
    promise:
      'With notMoreThanRunning, an image is not applied while no report of it is known, nor while a scanner reports more in it than in what it replaces.',
    onPatch(patch, world) {
      const level = rulesOf(patch, world)?.notMoreThanRunning;
      if (level === undefined) return undefined;
      const times = timesOf(patch, world);
      const wrong = times.map((at) => whyWorse(patch, { level, at }, world));
      return wrong.every((why) => why !== undefined) ? `${describe(patch)}: ${wrong[0]}` : undefined;
    },
  },
  {
    name: 'what is not applied has a reason',
    promise:
      'When everything is quiet, the newest image of a policy with such rules runs, or its status says what it waits for or who holds it.',
    atEnd(world) {
      if (world.hasInterference) return [];
      return world.setup.policies.flatMap(({ name, repository, container, scans }) => {
        if (scans === undefined || world.mayBeUnknown.has(repository)) return [];
        // Charts are pushed to all repositories.
        const images = [...world.registry.tags(repository)].filter(([tag, digest]) => valid(tag) !== null && kindOf(digest) === 'image');
        const best = images.map(([tag]) => tag).toSorted((a, b) => compare(b, a))[0];
        const { waiting, conditions = [] } = readStatus(policyNow(world, name)?.status);
        const isHeld = conditions.some(({ type, status }) => type === 'Held' && status === 'True');
        if (waiting !== undefined || isHeld) return [];
        return world.setup.workloads.flatMap(({ resource, namespace, name: workload }) => {
          const object = world.server.get(resource, namespace, workload);
          const runs = object && heldBy(object).get(container);
          const isBest = runs === undefined || best === undefined || compare(partsOf(runs).tag, best) >= 0;
          return isBest
            ? []
            : [`${workload} runs ${shorten(runs)}, and ${name} says of ${best} neither what it waits for nor who holds it`];
        });
      });
    },
  },
];

/** The rules for a change that the policy has made by itself; undefined for others, and where somebody has released it. */
function rulesOf(patch: ImagePatch, world: World): ScanRules | undefined {
  if (!patch.isOurs || isRollback(patch)) return undefined;
  const policy = policyOf(patch, world);
  return policy !== undefined && isReleasedBy(policy, world) ? undefined : setupOf(patch, world)?.scans;
}

function digestOf(image: string): string {
  return partsOf(image).digest ?? '';
}

/** What the workloads of a policy have run until a change. */
function runningDigests({ container }: ImagePatch, { setup, patches }: World): readonly string[] {
  const first = setup.workloads.flatMap(({ images }) => (images[container] === undefined ? [] : [images[container]]));
  const later = patches.all.flatMap((one) => (one.container === container ? [one.from, one.to] : []));
  return [...new Set([...first, ...later].map(digestOf))];
}

/** The newest report of each scanner at a time. */
function reportsAt(digest: string, at: number, { scans }: World): ReadonlyMap<string, ScanReport> {
  const there = scans.reportsOf(digest).filter(({ from, until }) => from <= at && at < until);
  return new Map(there.toSorted((a, b) => a.report.scannedMs - b.report.scannedMs).map(({ report }) => [report.scanner, report]));
}

/** The times until a change at which what was known of its images changed. */
function changesUntil(patch: ImagePatch, digests: readonly string[], { scans }: World): number[] {
  const times = digests.flatMap((digest) => scans.reportsOf(digest).flatMap(({ from, until }) => [from, until]));
  return times.filter((at) => at <= patch.sentAt);
}

/** Whether a scanner has reported, at any time before, something of this severity of what ran that it did not report of the new image. */
function wasFixed(running: string, patch: ImagePatch, { level, world }: { readonly level: RuleSeverity; readonly world: World }): boolean {
  const to = digestOf(patch.to);
  return changesUntil(patch, [running, to], world).some((at) => {
    const [before, after] = [reportsAt(running, at, world), reportsAt(to, at, world)];
    return [...before].some(([scanner, { advisories }]) => {
      const found = after.get(scanner)?.advisories.map(({ id }) => id);
      return found !== undefined && advisories.some(({ id, severity }) => isAtLeast(severity, level) && !found.includes(id));
    });
  });
}

/** The moments at which a change may have been decided: the source may have needed its time since. */
function timesOf(patch: ImagePatch, world: World): number[] {
  const [confirmed, to] = boundOf(patch, world);
  const from = confirmed - answerCountsMs - world.scans.slowestMs();
  const between = changesUntil(patch, [digestOf(patch.from), digestOf(patch.to)], world).filter((at) => at > from);
  return [from, ...between, to];
}

/** Why an image must not replace another one, by what was known at a time; undefined if it may. */
function whyWorse(
  { from, to }: ImagePatch,
  { level, at }: { readonly level: RuleSeverity; readonly at: number },
  world: World,
): string | undefined {
  const [before, after] = [from, to].map((image) => reportsAt(digestOf(image), at, world)) as [
    ReadonlyMap<string, ScanReport>,
    ReadonlyMap<string, ScanReport>,
  ];
  if (after.size === 0) return 'nothing was known of it';
  const count = ({ advisories }: ScanReport) => advisories.filter(({ severity }) => isAtLeast(severity, level)).length;
  for (const [scanner, report] of after) {
    const running = before.get(scanner);
    if (running !== undefined && count(report) > count(running))
      return `${scanner} reported ${count(report)}, and ${count(running)} before`;
  }
  return undefined;
}
