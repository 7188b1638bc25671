/** Runs a plan: each program is started with its arguments, without a shell, and the first failure ends it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Command } from './checks.ts';
import type { Step, Tool } from './plan.ts';
import { formatCommand } from './script.ts';

/** Why a plan ends, for the user. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/** Throws PlanError, which names every program that is missing with the page that says how to install it, or a Docker that does not answer. */
export async function checkTools(tools: readonly Tool[], surroundings: Surroundings): Promise<void> {
  const missing: string[] = [];
  for (const { program, link } of tools) {
    const code = await exitCodeOf({ program, args: program === 'docker' ? ['version'] : ['version', '--help'] }, surroundings);
    if (code === 'missing') missing.push(`  ${program}: ${link}`);
    else if (program === 'docker' && code !== 0)
      throw new PlanError('Docker does not answer: start it, and check that "docker version" shows a server');
  }
  if (missing.length > 0) throw new PlanError(`these programs are not on the PATH:\n${missing.join('\n')}`);
}

/** Runs all steps, and says what each does. Throws PlanError where a check refuses, or a command fails. */
export async function runPlan(steps: readonly Step[], surroundings: Surroundings): Promise<void> {
  const { say } = surroundings;
  for (const [index, { title, checks = [], commands = [] }] of steps.entries()) {
    say(`\n▶ ${index + 1}/${steps.length} ${title}`);
    for (const check of checks) {
      const why = check.refuse(await answerOf(check, surroundings));
      if (why !== undefined) throw new PlanError(why);
    }
    for (const command of commands) {
      say(`  $ ${formatCommand({ program: command.program, args: command.args })}`);
      const child = spawn(command.program, command.args, { ...processOf(surroundings), stdio: ['pipe', 'inherit', 'inherit'] });
      child.stdin.on('error', () => {});
      child.stdin.end(command.input ?? '');
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new PlanError(`${command.program} ended with ${code ?? 'a signal'}: the step "${title}" has failed`);
    }
  }
}

function processOf({ cwd, env }: Surroundings): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd, env };
}

async function answerOf(check: Command, surroundings: Surroundings): Promise<string> {
  const child = spawn(check.program, check.args, { ...processOf(surroundings), stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, problems, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new PlanError(`${formatCommand(check)} ended with ${String(code)}: ${problems.trim()}`);
  return output;
}

async function exitCodeOf({ program, args }: Command, surroundings: Surroundings): Promise<number | null | 'missing'> {
  const child = spawn(program, args, { ...processOf(surroundings), stdio: 'ignore' });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
}
