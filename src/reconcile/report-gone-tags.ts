import { describeGone } from '../plan/running-images.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import type { ReportPorts } from './report.ts';

/** Records an Event when running tags are found deleted, or other ones than before; not each time that they are found so. */
export function reportGoneTags(
  { apiVersion, namespace, name, uid, status }: ImagePolicy,
  gone: readonly string[],
  { recordEvent, logger }: Pick<ReportPorts, 'recordEvent' | 'logger'>,
): void {
  if (gone.length === 0) return;
  const message = describeGone(gone);
  const before = status.conditions?.find(({ type }) => type === 'TagGone');
  // The condition's message may have been cut to the length of its field.
  if (before?.status === 'True' && message.startsWith(before.message.replace(/…$/, ''))) return;
  const regarding = { apiVersion, kind: 'ImagePolicy', namespace, name, uid };
  recordEvent({ regarding, type: 'Warning', reason: 'TagGone', action: 'Poll', message });
  logger.info({ policy: policyKey({ namespace, name }), gone }, 'registry no longer has the running tag');
}
