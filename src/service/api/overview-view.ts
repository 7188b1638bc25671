/** The counts of the installation, as the API shows them. */
import { z } from 'zod';
import { policyState } from './policy-view.ts';
import { time } from './route.ts';

const quantiles = z.object({ p50Ms: z.number(), p90Ms: z.number(), count: z.int() });

export const overview = z
  .object({
    at: time,
    policies: z.partialRecord(policyState, z.int()).describe('The number of policies in each state.'),
    changes: z
      .object({
        lastHour: z.int(),
        lastDay: z.int(),
        byHour: z.array(z.int()).length(24).describe('Of the last 24 hours; the last entry is the last 60 minutes.'),
      })
      .describe('Changes of containers, as far back as the histories of the policies go.'),
    pushes: z
      .object({
        since: time,
        byOutcome: z.record(z.string(), z.int()),
        isComplete: z.boolean().describe('Whether all pushes since then were counted: the number that is read is limited.'),
        toResult: quantiles
          .exactOptional()
          .describe('From the receipt of a push to its last result: for watched rollouts, until the image runs.'),
      })
      .describe('Pushes of the last hour.'),
  })
  .meta({ id: 'Overview' });
