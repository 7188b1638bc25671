/** The list of commands. */
import { approve, check, release, resume, rollback, suspend } from './policy-commands.ts';
import { bases } from './bases.ts';
import type { Command } from './command.ts';
import { completion } from './completion.ts';
import { consents } from './consents.ts';
import { crd } from './crd.ts';
import { diff } from './diff.ts';
import { doctor } from './doctor.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { get } from './get.ts';
import { generatePassword } from './generate-password.ts';
import { importCommand } from './import.ts';
import { lint } from './lint.ts';
import { notify } from './notify.ts';
import { rebase } from './rebase.ts';
import { replay } from './replay.ts';
import { serve } from './serve.ts';
import { simulate } from './simulate.ts';
import { version } from './version.ts';

export const commands: readonly Command[] = [
  serve,
  crd,
  doctor,
  lint,
  simulate,
  get,
  explain,
  diff,
  bases,
  rebase,
  events,
  replay,
  notify,
  consents,
  check,
  approve,
  rollback,
  suspend,
  resume,
  release,
  importCommand,
  generatePassword,
  completion,
  version,
];
