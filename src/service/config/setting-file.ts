import { readFileSync } from 'node:fs';
import { describeError } from '../../core/model/errors.ts';
import type { Keys } from '../resources/validation/problem.ts';
import { settingError, type WrittenSettings } from './config-error.ts';
import { describeReadError } from './read-error.ts';

/** Reads the file that a setting names, and makes something of its text. Throws ConfigError, with the place of the setting, if the file cannot be read or used. */
export function readSettingFile<T>(settings: WrittenSettings, keys: Keys, file: string, open: (text: string) => T): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw settingError(settings, keys, `${file} ${describeReadError(error)}`, { cause: error });
  }
  try {
    return open(text);
  } catch (error) {
    throw settingError(settings, keys, `${file}: ${describeError(error)}`, { cause: error });
  }
}
