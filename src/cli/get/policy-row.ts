/** A policy as a row of `image-watcher get`. Pure. */
import { decisiveCondition, notReconciledYet } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { isDigest, tryParseImageReference } from '../../core/model/image-reference.ts';
import { runningTag } from '../../core/model/running-image.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import { readStatus } from '../../core/model/stored-status.ts';
import { reasonLinks } from '../reason-links.ts';
import { formatAge } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';

/** The columns of a row; `-` where there is no value. */
export interface PolicyRow {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  /** The tags that the targets run. */
  readonly running: string;
  /** The selected tag. */
  readonly latest: string;
  readonly ready: string;
  /** The reason of the decisive condition, as in every other view. */
  readonly reason: string;
  readonly age: string;
  /** Why something is blocked or wrong, and what to do; absent if nothing is. */
  readonly message?: string;
  /** Whether somebody must act. */
  readonly isStalled: boolean;
}

/** Conditions that inform and block nothing. They are shown where there is no other message. */
const informing = ['CrossNamespace', 'TagGone'];

/** Makes a row of a policy as the API server returns it. */
export function policyRow(raw: unknown, now: Date): PolicyRow {
  const { metadata, spec, status: found } = raw as { metadata?: Metadata; spec?: { image?: unknown; select?: unknown }; status?: unknown };
  const status = readStatus(found);
  const { conditions = [], latest } = status;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const shown = decisiveCondition(conditions);
  const isWell = shown !== undefined && (reasonLinks([shown.reason]).length === 0 || (shown === ready && ready.status === 'True'));
  const remark = conditions.find(({ type, status }) => informing.includes(type) && status === 'True');
  const message = shown === undefined ? notReconciledYet : isWell ? remark?.message : shown.message;
  const withDigest = typeof spec?.select === 'object' && spec.select !== null && 'digest' in spec.select;
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    image: typeof spec?.image === 'string' ? printable(spec.image) : '-',
    running: runningOf(status, withDigest),
    latest: latest === undefined ? '-' : nameOf(latest, withDigest),
    ready: ready?.status ?? 'Unknown',
    reason: printable(shown?.reason ?? '-'),
    age: metadata?.creationTimestamp === undefined ? '-' : formatAge(new Date(metadata.creationTimestamp), now),
    isStalled: shown?.type === 'Stalled',
    ...(message !== undefined && { message: printable(message) }),
  };
}

interface Metadata {
  readonly namespace?: string;
  readonly name?: string;
  readonly creationTimestamp?: string;
}

const shownTags = 2;

function runningOf(status: PolicyStatus, withDigest: boolean): string {
  const { running, targets = [], targetCounts } = status;
  // The counts of the summary are used if the list of targets is incomplete.
  if (running !== undefined && (targetCounts?.total ?? 0) > targets.length) return printable(running);
  const images = targets.flatMap(({ image }) => tryParseImageReference(image ?? '') ?? []);
  const named = images.map((image) => {
    const tag = runningTag(image, { status });
    return nameOf({ ...image, ...defined({ tag }) }, withDigest);
  });
  const names = [...new Set(named)];
  if (names.length === 0) return '-';
  return names.slice(0, shownTags).join(',') + (names.length > shownTags ? ` +${names.length - shownTags}` : '');
}

/** The tag, or the digest where there is no tag; both if the policy follows the digest of a tag. */
function nameOf({ tag, digest }: { readonly tag?: string; readonly digest?: string }, withDigest: boolean): string {
  const short = digest !== undefined && isDigest(digest) ? digest.slice(digest.indexOf(':') + 1).slice(0, 7) : undefined;
  if (tag === undefined) return short ?? '-';
  return printable(withDigest && short !== undefined ? `${tag}@${short}` : tag);
}
