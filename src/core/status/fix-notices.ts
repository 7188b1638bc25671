/** Notices about fixes that wait (`FixAvailable`). Pure. */
import { defined } from '../model/defined.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import { maxFixes, type Notice } from '../model/notice.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { describeFix, isMoreSevere, waitingFixOf } from '../model/waiting-fix.ts';

type Details = Pick<Notice, 'tag' | 'digest' | 'from' | 'fixes' | 'reason' | 'message'>;

/** The fix that waits now, unless the same image waited before with fixes as severe. */
export function fixNotices(
  { before, after }: { readonly before: PolicyStatus; readonly after: PolicyStatus },
  spec: ImagePolicy['spec'] | undefined,
): Details[] {
  const fixIn = (status: PolicyStatus) => waitingFixOf({ status, ...defined({ spec }) });
  const [was, fix] = [fixIn(before), fixIn(after)];
  if (fix === undefined || (was?.digest === fix.digest && !isMoreSevere(fix, was))) return [];
  const { tag, digest, running, fixes, wait } = fix;
  const until = wait.until === undefined || wait.message.includes(wait.until) ? '' : ` (until ${wait.until})`;
  return [{ tag, digest, from: running, fixes: fixes.slice(0, maxFixes), reason: wait.reason, message: `${describeFix(fix)}${until}` }];
}
