/** The list of rows, in the order of the report. */
import { api } from './api.ts';
import { bases } from './bases.ts';
import { burst } from './burst.ts';
import { commands } from './commands.ts';
import { fanOut } from './fan-out.ts';
import { backToBack, latency } from './latency.ts';
import { memory } from './memory.ts';
import { replicas } from './replicas.ts';
import { requests } from './requests.ts';
import type { Row } from './row.ts';
import { scale } from './scale.ts';
import { start } from './start.ts';
import { tabs } from './tabs.ts';
import { unwatched } from './unwatched.ts';
import { webhooks } from './webhooks.ts';

export const rows: readonly Row[] = [
  latency,
  backToBack,
  burst,
  fanOut,
  replicas,
  webhooks,
  scale,
  memory,
  start,
  requests,
  unwatched,
  bases,
  api,
  tabs,
  commands,
];
