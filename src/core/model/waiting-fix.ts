/** A fix that waits: what runs has vulnerabilities, and an image that fixes them is not applied. Derived from the spec and the status of a policy alone. Pure. */
import type { Assessment, ComparedImage } from './assessment.ts';
import { ownDigestOf } from './companions.ts';
import { decisiveCondition } from './decisive-condition.ts';
import { defined } from './defined.ts';
import { showHidden } from './hidden-text.ts';
import { isUsable, type ImagePolicy } from './image-policy.ts';
import { trueCondition } from './new-conditions.ts';
import type { PolicyStatus } from './policy-status.ts';
import { isHoldingWait } from './release-holds.ts';
import { isAtLeast, vulnerabilitySeverities, type VulnerabilitySeverity } from './vulnerabilities.ts';

/** A vulnerability by its id. */
export type Vulnerability = ComparedImage['fixes'][number];

export interface WaitingFix {
  readonly tag: string;
  readonly digest: string;
  /** The images that run with these vulnerabilities, as the targets name them. */
  readonly running: readonly string[];
  /** What the image fixes, the most severe first. Never empty. */
  readonly fixes: readonly Vulnerability[];
  /** The vulnerabilities that the new image adds and that are as severe as those it fixes, the most severe first. */
  readonly adds: readonly Vulnerability[];
  /** Why the new image is not applied. */
  readonly wait: FixWait;
}

export interface FixWait {
  readonly reason: string;
  readonly message: string;
  /** When the wait ends by itself; RFC 3339. */
  readonly until?: string;
}

type Policy = Pick<ImagePolicy, 'status'> & Partial<Pick<ImagePolicy, 'spec'>>;

/** The fix that matters most: the one of the highest severity; of two, the one that is assessed first, which is the selected one. Undefined if none waits. */
export function waitingFixOf(policy: Policy): WaitingFix | undefined {
  const found = (policy.status.vulnerabilities ?? []).flatMap((one) => fixOf(one, policy) ?? []);
  return found.toSorted((a, b) => rankOf(b) - rankOf(a))[0];
}

/** The highest severity of the vulnerabilities that a new image fixes. */
function severityOfFix({ fixes }: WaitingFix): VulnerabilitySeverity {
  return fixes[0]?.severity ?? 'Unknown';
}

/** Whether a fix is more severe than another one. */
export function isMoreSevere(one: WaitingFix, other: WaitingFix): boolean {
  return rankOf(one) > rankOf(other);
}

/** What runs, what is fixed, and what the fix waits for, in one sentence. */
export function describeFix({ tag, running, fixes, adds, wait }: WaitingFix): string {
  const what = `${listShort(running)} has ${listVulnerabilities(fixes)}, which ${tag} fixes`;
  const whole = adds.length === 0 ? what : `${what}, while it adds ${listVulnerabilities(adds)}`;
  return `${whole}: ${wait.message}`;
}

/** What runs, and what its fix waits for, for those who see what it fixes. */
export function describeFixWait({ tag, running, adds, wait }: WaitingFix): string {
  const what = `${listShort(running)} runs now`;
  const whole = adds.length === 0 ? what : `${what}, and ${tag} adds ${listVulnerabilities(adds)}`;
  return `${whole}: ${wait.message}`;
}

/** The ids of vulnerabilities with their severity: the first three, and how many more there are. */
export function listVulnerabilities(all: readonly Vulnerability[]): string {
  return listShort(all.map(({ id, severity }) => `${id} (${severity})`));
}

const few = 3;

function listShort(texts: readonly string[]): string {
  const named = texts.slice(0, few).join(', ');
  return texts.length > few ? `${named} and ${texts.length - few} more` : named;
}

function rankOf(fix: WaitingFix): number {
  return vulnerabilitySeverities.indexOf(severityOfFix(fix));
}

function fixOf(assessment: Assessment, { spec, status }: Policy): WaitingFix | undefined {
  const { tag, digest, unknown } = assessment;
  if (unknown !== undefined) return undefined;
  const level = levelOf(spec);
  const severe = (all: readonly Vulnerability[]) => mostSevere(all.filter(({ severity }) => isAtLeast(severity, level)));
  const replaces = assessment.replaces.filter((one) => runs(one, status));
  const fixed = replaces.filter(({ fixes }) => severe(fixes).length > 0);
  if (fixed.length === 0) return undefined;
  const wait = waitOf(assessment, spec?.suspended === true, status);
  if (wait === undefined) return undefined;
  return {
    tag: showHidden(tag),
    digest,
    running: [...new Set(fixed.map(({ image }) => showHidden(image)))],
    fixes: severe(fixed.flatMap(({ fixes }) => fixes)),
    adds: severe(replaces.flatMap(({ adds }) => adds)),
    wait,
  };
}

/** The lowest severity of which a fix is reported: High, or a lower one that the policy names. */
function levelOf(spec: Policy['spec']): VulnerabilitySeverity {
  if (spec === undefined || !isUsable(spec)) return 'High';
  const named = [spec.minAgeUnless?.fixes, spec.windowsUnless?.fixes, spec.vulnerabilities?.notMoreThanRunning];
  return named.reduce<VulnerabilitySeverity>((lowest, one) => (one === undefined || isAtLeast(one, lowest) ? lowest : one), 'High');
}

/** The vulnerabilities with each id once, at its highest severity, the most severe first. */
export function mostSevere(all: readonly Vulnerability[]): Vulnerability[] {
  const bySeverity = all.toSorted((a, b) => vulnerabilitySeverities.indexOf(b.severity) - vulnerabilitySeverities.indexOf(a.severity));
  const found = new Map<string, Vulnerability>();
  for (const { id, severity } of bySeverity) {
    const shown = showHidden(id);
    if (!found.has(shown)) found.set(shown, { id: shown, severity });
  }
  return [...found.values()];
}

/** Whether a target still runs the image. A status that does not list all containers may leave it out. */
function runs({ image }: ComparedImage, { targets, targetCounts }: PolicyStatus): boolean {
  if (targets === undefined || (targetCounts?.total ?? 0) > targets.length) return true;
  return targets.some((one) => one.image === image && one.companion !== true && one.state !== 'UpToDate');
}

/** Reasons of an image that is being applied, or that is tried again within minutes, unless the status says that it waits. */
const underWay: ReadonlySet<string> = new Set([
  'Progressing',
  'WavePending',
  'WavePause',
  'Retrying',
  'RegistryUnavailable',
  'RegistryThrottled',
  'RegistryBusy',
  'NotShownYet',
  'UpToDate',
  'Updated',
  'RolledOut',
  'RolloutNotWatched',
]);

/** What an assessed image waits for; undefined if it is being applied. What asks for somebody comes first. */
function waitOf({ tag, digest }: Assessment, isSuspended: boolean, status: PolicyStatus): FixWait | undefined {
  const { conditions = [], waiting, pendingApproval } = status;
  const decisive = decisiveCondition(conditions);
  if (isSuspended || decisive?.reason === 'Suspended') return { reason: 'Suspended', message: 'the policy is suspended' };
  const told = (reason: string) => conditions.find((one) => one.reason === reason && one.status === 'True')?.message;
  const stalled = trueCondition(conditions, 'Stalled');
  if (stalled !== undefined) return { reason: stalled.reason, message: stalled.message };
  if (pendingApproval !== undefined && ownDigestOf(pendingApproval) === digest)
    return { reason: 'ApprovalRequired', message: told('ApprovalRequired') ?? `${tag} waits for approval` };
  if (waiting !== undefined && waiting.digest === digest) {
    const { reason, until } = waiting;
    if (reason === 'WavePending' || reason === 'WavePause') return undefined;
    const message = told(reason) ?? `${tag} waits until ${until}`;
    return { reason, message, ...defined({ until: isHoldingWait(status) ? undefined : until }) };
  }
  if (decisive === undefined || underWay.has(decisive.reason)) return undefined;
  // The condition is about the image that waits, which comes first.
  if (waiting?.tag !== undefined && waiting.reason === decisive.reason)
    return { reason: waiting.reason, message: `${tag} waits behind ${waiting.tag}, which waits until ${waiting.until}` };
  return { reason: decisive.reason, message: decisive.message };
}
