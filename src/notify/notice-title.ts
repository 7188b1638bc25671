/** The title of a message: what it is about, the tag, and the outcome. Pure. */
import { tryParseImageReference } from '../core/model/image-reference.ts';
import { listVulnerabilities } from '../core/model/waiting-fix.ts';
import { formatSubject, type Notice, type NoticeKind } from '../core/model/notice.ts';

/** The words of a title. */
interface Words {
  readonly name: string;
  /** The name with the tag, if there is one. */
  readonly image: string;
  readonly tag: string;
  /** The tag that ran before, if there is exactly one, and another one. */
  readonly before?: string | undefined;
  /** The base, by its tag. */
  readonly base: string;
  readonly reason: string;
  /** `: CrashLoop`, or nothing. */
  readonly why: string;
  /** What the image fixes: `CVE-2026-1234 (Critical)`. */
  readonly fixes: string;
  /** ` on registry/java:21`, or nothing. */
  readonly on: string;
  /** ` (3 workloads)`, ` (2/3 workloads)` or nothing. */
  readonly count: string;
}

const titles: Readonly<Record<NoticeKind, (words: Words) => string>> = {
  Updated: ({ image, before, count }) => `${image} ${before === undefined ? 'was applied' : `replaces ${before}`}${count}`,
  RolledOut: ({ image, on, count }) => `${image} rolled out${on}${count}`,
  RolloutFailed: ({ image, on, why, count }) => `${image} failed${on}${why}${count}`,
  RolledBack: ({ name, before, tag, reason, count }) =>
    `${before === undefined ? name : `${name} ${before}`}${reason === '' || reason === 'RollbackRequested' ? '' : ' failed,'} rolled back to ${tag}${count}`,
  ApprovalRequired: ({ image }) => `${image} waits for approval`,
  ApprovalEnded: ({ image, reason }) =>
    reason === 'RejectedByUser' ? `${image} was rejected` : `${image} does not wait for approval any more`,
  Blocked: ({ name, why }) => `${name} is blocked${why}`,
  FixAvailable: ({ image, fixes, why }) => `${image} fixes ${fixes}, and waits${why}`,
  Refused: ({ name, base, why }) => `${name} was not brought to ${base}${why}`,
  Behind: ({ name, base }) => `${name} is behind ${base}`,
  CertificateExpiring: ({ name }) => `${name} must be renewed`,
  WebhookMissing: ({ name }) => `${name} was updated by polls only: no webhooks arrive`,
  RebuildRequested: ({ name, base }) => `${name} is to be rebuilt on ${base}`,
  Rebased: ({ name, base }) => `${name} was rebased on ${base}`,
};

/** The title of a notice: `shop/web 1.4.2 failed, rolled back to 1.4.1 (3/3 workloads)`. */
export function titleOf(notice: Notice): string {
  const { kind, subject, tag = '', base = '', reason = '', fixes = [] } = notice;
  const name = nameOf(subject);
  // The name of an image has a tag, which is that of the image before a rebase.
  const image = subject.kind === 'Image' || tag === '' ? name : `${name} ${tag}`;
  const baseTag = base.split('@')[0] ?? '';
  return titles[kind]({
    name,
    image,
    tag,
    before: tagBefore(notice),
    base: baseTag,
    reason,
    fixes: listVulnerabilities(fixes),
    why: reason === '' ? '' : `: ${reason}`,
    on: subject.kind === 'Image' && baseTag !== '' ? ` on ${baseTag}` : '',
    count: countOf(notice),
  });
}

/** The name of a subject. Whoever gets a notice about an image knows the namespace, which is their own. */
function nameOf(subject: Notice['subject']): string {
  if (subject.kind === 'Image') return subject.name;
  return subject.kind === 'BaseImagePolicy' ? `base ${formatSubject(subject)}` : formatSubject(subject);
}

/** A BaseImagePolicy names the tag alone, and an ImagePolicy the images of its containers. */
function tagBefore({ subject, tag, from = [] }: Notice): string | undefined {
  const tags = new Set(from.map((image) => (subject.kind === 'BaseImagePolicy' ? image : tryParseImageReference(image)?.tag)));
  const [before] = tags;
  return tags.size === 1 && before !== tag ? before : undefined;
}

/** How many workloads changed, after a failure of how many that got the image; for a base, how many of the images are on it. */
function countOf({ images, workloads = [], hasMore = false, share }: Notice): string {
  if (images !== undefined) return ` (${images.current} of ${images.current + images.behind + images.unknown} images)`;
  if (share !== undefined) return ` (${share.count}/${share.total} ${share.total === 1 ? 'workload' : 'workloads'})`;
  if (workloads.length === 0) return '';
  return ` (${workloads.length}${hasMore ? ' or more' : ''} ${workloads.length === 1 && !hasMore ? 'workload' : 'workloads'})`;
}
