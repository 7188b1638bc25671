/** Decides which result of a push for a policy replaces which. Redis decides it, because tries of a push may run in several processes and end in any order. */
import type { Command } from './commands.ts';
import type { PolicyResult } from './event-log.ts';

/**
 * 0: another try follows, and any later result replaces it. 1: a guard has the image wait, or a user must act, which ends the tries; the late failure of another
 * try does not replace it, and what is decided about the image later does. From 2 on, a result is final, and only a higher one replaces it. The result that stands contains the changes of all results, because later tries
 * and the rollouts of other workloads do not undo a change.
 */
export const resultRanks = {
  retrying: 0,
  waiting: 0,
  suspended: 1,
  stalled: 1,
  failed: 2,
  ignored: 2,
  unchanged: 2,
  updated: 3,
} as const satisfies Readonly<Record<PolicyResult['kind'], number>>;

/**
 * The ranks of results of later stages: a guard that has an image wait · another image has replaced it before its rollout was complete · a rollout, which replaces
 * every result, even an earlier one of its own · it was given up before its last wave, whatever becomes of the rollouts of the waves before.
 */
export const stageRanks = { guard: 1, replaced: 4, rollout: 5, waves: 6 } as const satisfies Readonly<
  Record<'guard' | 'replaced' | 'rollout' | 'waves', number>
>;

/** The rank of a result that was found afterwards (`isFound`) while it is recorded: above that of every try. */
export const foundRank = (resultRanks.updated + stageRanks.replaced) / 2;

/** The lowest rank of a final result. */
export const finalRank = resultRanks.unchanged;

/** Whether a result is final: no try, guard or user goes on for it. */
export function isFinal({ kind, stage }: Pick<PolicyResult, 'kind' | 'stage'>): boolean {
  return (stage === undefined ? resultRanks[kind] : stageRanks[stage]) >= finalRank;
}

/** How many changes are recorded. A policy may change hundreds of workloads, which the message counts. */
export const maxChanges = 20;

/**
 * `MATCH hash policies [field value …]`: records the policies that match a push, in addition to those of an earlier match, whose results stay. `UNMATCH hash
 * index time id [field value …]`: records that none matches, unless some have matched before: the push may be processed again when they are gone.
 */
export const matchFunctions = `
function functions.MATCH(hash, policies, ...)
  local isRead, known = pcall(cjson.decode, redis.call('HGET', hash, 'policies') or '')
  if isRead and type(known) == 'table' and #known > 0 then
    local names = {}
    for _, name in ipairs(known) do names[name] = true end
    for _, name in ipairs(cjson.decode(policies)) do
      if not names[name] then table.insert(known, name) end
    end
    policies = cjson.encode(known)
  end
  redis.call('HSET', hash, 'outcome', 'matched', 'policies', policies, ...)
end
function functions.UNMATCH(hash, index, time, id, ...)
  if redis.call('HGET', hash, 'outcome') == 'matched' then return end
  redis.call('HSET', hash, 'outcome', 'unwatched', ...)
  redis.call('ZADD', index, time, id)
end`;

/**
 * `RECORD hash field result isFound verifiedField [verifiedMs]`: records a result unless a higher one is known. `isFound`: "1" for one that was found afterwards, which
 * replaces only results of tries. A result that cannot be read counts as none.
 */
export const recordFunction = `
local ranks = cjson.decode('${JSON.stringify(resultRanks)}')
local stages = cjson.decode('${JSON.stringify(stageRanks)}')
local function readResult(text)
  local isRead, result = pcall(cjson.decode, text or '')
  if not isRead or type(result) ~= 'table' then return -1, {}, {} end
  local rank = stages[result.stage or ''] or ranks[result.kind] or -1
  return rank, type(result.changes) == 'table' and result.changes or {}, result
end
local function nameOf(change)
  local workload = type(change.workload) == 'table' and change.workload or {}
  local words = {workload.kind, workload.namespace, workload.name, change.container, change.became or change.to}
  for index = 1, 5 do words[index] = tostring(words[index]) end
  return table.concat(words, ' ')
end
local function union(...)
  local changes, known = {}, {}
  for _, some in ipairs({...}) do
    for _, change in ipairs(some) do
      local name = type(change) == 'table' and nameOf(change)
      if name and not known[name] and #changes < ${maxChanges} then
        known[name] = true
        table.insert(changes, change)
      end
    end
  end
  return changes
end
function functions.RECORD(hash, field, text, isFound, verifiedField, verifiedMs)
  local old, oldChanges, before = readResult(redis.call('HGET', hash, field))
  local new, newChanges, after = readResult(text)
  if verifiedMs then redis.call('HSETNX', hash, verifiedField, verifiedMs) end
  local changes = union(oldChanges, newChanges)
  if isFound == '1' then new = ${foundRank} end
  local isLate = new < old or new == old and new >= ${finalRank} and new < ${stageRanks.rollout}
  if isLate and #changes <= #oldChanges then return end
  if isLate and new == old and new == ${resultRanks.updated} and #newChanges > #oldChanges then
    after.at, after.afterMs = before.at, before.afterMs
  elseif isLate then
    after = before
  elseif #changes <= #newChanges and (#changes == 0 or after.kind ~= 'unchanged') then
    redis.call('HSET', hash, field, text)
    return
  end
  after.changes = changes
  if after.kind == 'unchanged' then after.kind, after.reason, after.stage = 'updated', 'Updated', nil end
  redis.call('HSET', hash, field, cjson.encode(after))
end`;

/** The command that records a result in the hash of its event. */
export function recordCommand(hash: string, policy: string, { verifiedMs, changes, isFound, ...others }: PolicyResult): Command {
  const result = { ...others, ...(changes !== undefined && { changes: changes.slice(0, maxChanges) }) };
  const verified = verifiedMs === undefined ? [] : [verifiedMs];
  return ['RECORD', hash, `policy:${policy}`, JSON.stringify(result), isFound === true ? '1' : '', `verified:${policy}`, ...verified];
}
