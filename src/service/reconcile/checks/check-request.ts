/** The port through which checks are asked (`service/checks`). */
import type { CheckJob, CheckRecord } from '../../../core/model/check-record.ts';
import type { CheckAnswer, CheckSettings } from '../../../core/model/rollout-check.ts';

/** One question of a check: what is asked, and about which image. */
export interface CheckRequest {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly check: CheckSettings;
  readonly record: CheckRecord;
  /** The image in full: `harbor.example.com/shop/web:1.4.2`. */
  readonly image: string;
  /** The containers that the image is for, with what they run or ran before. */
  readonly changes: readonly CheckedChange[];
  readonly signal: AbortSignal;
}

export interface CheckedChange {
  /** `Deployment shop/web`. */
  readonly workload: string;
  readonly container: string;
  readonly from?: string;
}

/** An answer; `job`: the Job or the AnalysisRun that was created for the check, now or before. */
export type AskedAnswer = CheckAnswer & { readonly job?: CheckJob };

/** Asks a check. Never rejects: what goes wrong is no answer. */
export type AskCheck = (request: CheckRequest) => Promise<AskedAnswer>;
