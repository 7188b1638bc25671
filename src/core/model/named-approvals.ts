/** Approvals of several people. Each is an annotation with the name of who writes it, which the chart's admission policy checks. Pure. */
import { createHash } from 'node:crypto';
import type { ApprovalRound } from './approval-round.ts';
import { isDigest, isTag } from './image-reference.ts';

/** The start of the annotations with approvals of policies that ask for several people. What follows only has to differ from person to person. */
export const approvalPrefix = 'approvals.operator.technomad.dev/';

/** The annotation with who last changed the spec. The admission policy requires it where the approval of that person does not count. */
export const lastEditedByAnnotation = 'operator.technomad.dev/last-edited-by';

/** Who last changed the spec, as the annotation says. */
export function readEditor({ [lastEditedByAnnotation]: editor }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof editor === 'string' && editor !== '' ? editor : undefined;
}

/** One approval: `1.4.2@sha256:… 2026-03-01T12:00:00Z ada@example.com`, and in a second line why. */
export interface NamedApproval {
  readonly tag: string;
  readonly digest: string;
  /** When the approval was given, as its author says; RFC 3339. */
  readonly at: string;
  readonly user: string;
  readonly reason?: string;
}

/** The most people whose approvals are read, and the longest name and reason. */
const [maxPeople, maxName, maxReason] = [32, 253, 300];
/** The time between the clocks of two people that is not taken for a wrong time. */
export const maxClockDifferenceMs = 300_000;

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;

/** The annotation of a person. The name of a user may contain what a key may not. */
export function approvalAnnotation(user: string): string {
  return `${approvalPrefix}${createHash('sha256').update(user).digest('hex').slice(0, 20)}`;
}

/** The text of an approval in the annotation. */
export function formatApproval({ tag, digest, at, user, reason }: NamedApproval): string {
  return `${tag}@${digest} ${at} ${user}${reason === undefined || reason === '' ? '' : `\n${reason.slice(0, maxReason)}`}`;
}

/** Reads an approval; undefined for any other text. The name is never shortened: it would be another one. */
function readApproval(text: unknown): NamedApproval | undefined {
  if (typeof text !== 'string' || text.length > 2_048) return undefined;
  const [line = '', ...more] = text.split('\n');
  const [image = '', at = '', ...words] = line.split(' ');
  const [tag = '', digest = '', ...others] = image.split('@');
  const user = words.join(' ');
  if (others.length > 0 || !isTag(tag) || !isDigest(digest) || !time.test(at) || Number.isNaN(Date.parse(at))) return undefined;
  if (user === '' || user.length > maxName) return undefined;
  const reason = more.join(' ').trim().slice(0, maxReason);
  return { tag, digest, at, user, ...(reason !== '' && { reason }) };
}

/** The latest approval of each person, the earliest first. So nobody counts twice, however many annotations he writes. */
export function readApprovals(annotations: Readonly<Record<string, unknown>>): NamedApproval[] {
  const latest = new Map<string, NamedApproval>();
  for (const [name, value] of Object.entries(annotations)) {
    const read = name.startsWith(approvalPrefix) ? readApproval(value) : undefined;
    const known = read && latest.get(read.user);
    if (read !== undefined && (known === undefined || Date.parse(known.at) < Date.parse(read.at))) latest.set(read.user, read);
  }
  const order = (a: NamedApproval, b: NamedApproval) => Date.parse(a.at) - Date.parse(b.at) || (a.user < b.user ? -1 : 1);
  return [...latest.values()].toSorted(order).slice(-maxPeople);
}

/** The time of an approval that is given now. The clock of its author may be behind the one by which the image became pending. */
export function approvalTime({ approvals }: { readonly approvals?: { readonly since: string } }, now: Date): string {
  const since = Date.parse(approvals?.since ?? '');
  return new Date(Math.max(now.getTime(), Number.isNaN(since) ? 0 : since)).toISOString();
}

/** Why the approval of a person would not count, or not once more; undefined if it would. */
export function whyNoVote(
  { approvals, editedBy, notByAuthor }: { readonly approvals?: ApprovalRound; readonly editedBy?: string; readonly notByAuthor: boolean },
  { tag, digest }: Pick<NamedApproval, 'tag' | 'digest'>,
  user: string,
): string | undefined {
  if (notByAuthor && editedBy === user)
    return 'you have changed the policy last, and its approvals.notByAuthor does not count your approval';
  const isSame = approvals?.tag === tag && approvals.digest === digest;
  const own = isSame ? approvals.given?.find((one) => one.user === user) : undefined;
  return own && `you have approved it at ${own.at}, and each person counts once`;
}
