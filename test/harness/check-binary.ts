import { runCommand } from './run-command.ts';
import type { Tool, Version } from './tools.ts';

/** A program that was run and said that it is what we need. */
export type Binary = { path: string; version: Version };

/** Asks the program for its version; throws an Error that says why the program will not do. */
export async function checkBinary(path: string, tool: Tool): Promise<Binary> {
  const output = await runCommand(path, tool.versionArguments ?? ['--version'], { timeoutMs: 30_000 });
  const [, major, minor] = tool.versionPattern.exec(output) ?? [];
  if (major === undefined) throw new Error(`${path} is not the ${tool.id} we need; it says: ${output.trim().slice(0, 200)}`);
  const version = { major: Number(major), minor: Number(minor) };
  const { oldest } = tool;
  const tooOld = version.major === oldest.major ? version.minor < oldest.minor : version.major < oldest.major;
  if (tooOld) throw new Error(`${path} is version ${major}.${minor}, older than ${oldest.major}.${oldest.minor}`);
  return { path, version };
}
