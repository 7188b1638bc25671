/** The list of commands. */
import type { Command } from './command.ts';
import { crd } from './crd.ts';
import { events } from './events.ts';
import { lint } from './lint.ts';
import { replay } from './replay.ts';
import { serve } from './serve.ts';
import { simulate } from './simulate.ts';

export const commands: readonly Command[] = [serve, crd, lint, simulate, events, replay];
