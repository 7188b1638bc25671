/** What docs/reasons.zh-CN.md says, by the English text. A text without a translation fails `npm run generate`. */
import { chineseAlongsideReasons } from './zh-CN-alongside.ts';
import { chineseApprovalReasons } from './zh-CN-approvals.ts';
import { chineseBases } from './zh-CN-reasons-bases.ts';
import { chineseProblems } from './zh-CN-reasons-problems.ts';
import { chinesePushes } from './zh-CN-reasons-pushes.ts';
import { chineseRollouts } from './zh-CN-reasons-rollouts.ts';

export const chineseReasons: Readonly<Record<string, string>> = {
  ...chineseAlongsideReasons,
  ...chineseApprovalReasons,
  ...chineseBases,
  ...chineseProblems,
  ...chinesePushes,
  ...chineseRollouts,
};
