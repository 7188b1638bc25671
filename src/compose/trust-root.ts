import { readFileSync } from 'node:fs';
import { ConfigError, type Config } from '../config.ts';
import { describeError } from '../model/errors.ts';
import { readTrustRoot } from '../verify/trust.ts';

/** What keyless signatures are verified with. */
export type TrustRoot = ReturnType<typeof readTrustRoot>;

/** The trust root, if the configuration has one; throws ConfigError when it cannot be used. */
export function openTrustRoot({ verification: { trustRootFile: file } }: Config): TrustRoot | undefined {
  if (file === undefined) return undefined;
  try {
    return readTrustRoot(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError('configuration', [{ path: 'verification.trustRootFile', message: `${file}: ${describeError(error)}` }]);
  }
}
