/** What does not answer at present, as the API shows it. */
import { z } from 'zod';
import { staleParts } from './ports.ts';
import { time } from './route.ts';

export const stale = z
  .object({
    what: z
      .enum(staleParts)
      .describe(
        'cluster: the API server, so that answers are of that time; redis: of pushes and activity there is only what was read before (`asOf`).',
      ),
    since: time,
  })
  .meta({ id: 'Stale', description: 'What does not answer, and since when.' });
