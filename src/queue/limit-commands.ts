import type { Command, Redis } from 'ioredis';

/** The message that ioredis uses for the same error. */
export const tooLate = 'Command timed out';

/**
 * Rejects every command that has no answer after this many milliseconds with `tooLate`. Unlike `commandTimeout` of ioredis, it allows for a process that was
 * held up: timers then fire before the answers that have arrived are read, and such an answer must not count as missing.
 */
export function limitCommands(connection: Redis, milliseconds: number): void {
  const send = connection.sendCommand.bind(connection);
  // Commands are sent again after a lost connection, or on their way through a Cluster.
  const limited = new WeakSet<Command>();
  connection.sendCommand = (command, stream) => {
    if (!limited.has(command)) {
      limited.add(command);
      limit(command, milliseconds);
    }
    return send(command, stream);
  };
}

function limit(command: Command, milliseconds: number): void {
  const giveUp = () => command.reject(new Error(tooLate));
  const timer = setTimeout(() => setImmediate(giveUp), milliseconds);
  const stop = () => clearTimeout(timer);
  command.promise.then(stop, stop);
}
