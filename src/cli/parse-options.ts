/** For commands that are not built by `defineCommand`. */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { didYouMean } from '../api-versions/validation/schema-problems.ts';
import { UsageError } from './usage-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** node:util's parseArgs, with errors of our own as UsageErrors. */
export function parseOptions<T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(describeParseError(error, options), { cause: error });
  }
}

/** Node names the option in quotes: `'--limit <value>'`, `'-o, --output <value>'` or `'--limt'`. */
function describeParseError(error: unknown, options: Options): string {
  const message = error instanceof Error ? error.message : String(error);
  const [option = ''] = /(?<=')--?[^'\s,]+(?= <value>'|')|(?<=, )--[^'\s]+/.exec(message) ?? [];
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = Object.entries(options).flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
    return `there is no option ${option}${didYouMean(option, known)}`;
  }
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
    return message.includes('does not take') ? `${option} takes no value` : `${option} needs a value`;
  return message;
}

/** `--output text|json`. */
export function parseOutput(value: string | undefined): 'text' | 'json' {
  if (value === undefined || value === 'text') return 'text';
  if (value === 'json') return 'json';
  throw new UsageError(`--output is text or json, not "${value}"`);
}
