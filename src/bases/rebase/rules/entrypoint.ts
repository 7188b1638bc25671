import { isInherited } from '../merge-config.ts';
import { isSame } from '../../recognize/settings.ts';
import { type Rule, shown } from './rule.ts';

/** Compares what containers run by default: entrypoint and command. */
export const entrypoint: Rule = {
  id: 'EntrypointChanged',
  about: 'The base has another entrypoint or command, which the application takes over.',
  check({ application, oldBase, newBase }) {
    const [own, before, after] = [application, oldBase, newBase].map(({ config }) => config.config ?? {});
    if (!isInherited(own?.Entrypoint, before?.Entrypoint)) return undefined;
    if (!isSame(before?.Entrypoint, after?.Entrypoint)) {
      return `the entrypoint of the base changes from ${shown(before?.Entrypoint)} to ${shown(after?.Entrypoint)}`;
    }
    if (!isInherited(own?.Cmd, before?.Cmd) || isSame(before?.Cmd, after?.Cmd)) return undefined;
    return `the command of the base changes from ${shown(before?.Cmd)} to ${shown(after?.Cmd)}`;
  },
};
