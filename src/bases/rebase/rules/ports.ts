import { changedName } from './volumes.ts';
import { type Rule, shown } from './rule.ts';

/** Compares the ports that the images document. */
export const ports: Rule = {
  id: 'PortsChanged',
  about: 'The base exposes other ports, which the application takes over.',
  check(change) {
    const changed = changedName(change, 'ExposedPorts');
    return changed && `the base ${changed.isNew ? 'exposes' : 'no longer exposes'} the port ${shown(changed.name)}`;
  },
};
