/** The records of checks (`rollout.checks`) in the status of a policy. */
import { z } from 'zod';
import { digest, message, tag, text, time } from './status-fields.ts';

/** The maximum number of checks of one policy, and of those that its status lists. */
export const maxChecks = 8;
export const maxChecksListed = 3 * maxChecks;

const checkJob = z
  .object({ name: text(63, 'Its name.'), uid: text(64, 'Its uid: another object of this name does not count.') })
  .describe('The Job or the AnalysisRun that was created for the check.');
/** The Job of a check. */
export type CheckJob = Readonly<z.output<typeof checkJob>>;

/** The schema of a record. */
export const checkRecord = z
  .object({
    name: text(63, 'The name of the check in rollout.checks.'),
    phase: z.enum(['before', 'during', 'after']).describe('When it is asked.'),
    id: text(64, 'The id of the question, which endpoints, Jobs and AnalysisRuns see.'),
    tag: tag('The tag of the image.'),
    digest: digest('The digest of the image.').exactOptional(),
    state: z
      .enum(['Running', 'Passed', 'Failed', 'TimedOut'])
      .describe(
        'Running: there is no verdict yet. Passed, Failed: the verdict. TimedOut: there was no answer in time, which counts as a failure of unknown cause.',
      ),
    startedAt: time('When it began.'),
    at: time('When the verdict was given.').exactOptional(),
    answered: z.int().min(0).exactOptional().describe('The number of the last question whose answer is recorded here.'),
    failures: z.int().min(0).exactOptional().describe('How many bad answers there were.'),
    job: checkJob.exactOptional(),
    message: message('The last answer, for people.').exactOptional(),
  })
  .describe('A check of an image, and its verdict.');

/** A check of an image, and its verdict. */
export type CheckRecord = Readonly<z.output<typeof checkRecord>>;
/** The schema of `status.checks`. */
export const checkList = z
  .array(checkRecord)
  .max(maxChecksListed)
  .describe(`The last ${maxChecksListed} checks of rollout.checks, the latest first.`);
