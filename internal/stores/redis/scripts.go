package redis

import (
	"strconv"
	"time"
)

// scripts is the Lua text of each verb that is a script. It is always sent with
// EVAL: EVALSHA would need a second request if the server does not know the
// script, and a verb is one request.
//
// The scripts use redis.pcall and return its error. To an error from redis.call
// Redis 7 appends the script's hash and line, so the message would depend on the
// text of the script.
//
// Like any command, a script that returns an error has changed nothing: its steps
// are ordered so.
var scripts = [...]string{
	CompareAndDelete: `local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then return value end
if value ~= ARGV[1] then return 0 end
return redis.pcall('DEL', KEYS[1])`,

	Grant: `local set = {'SET', KEYS[1], ARGV[1], 'NX'}
if ARGV[2] then set[5], set[6] = 'PX', ARGV[2] end
local reply = redis.pcall(unpack(set))
if not reply then return 0 end
if reply.err then return reply end
if not KEYS[2] then return 1 end
local token = redis.pcall('INCR', KEYS[2])
if type(token) == 'table' then redis.call('DEL', KEYS[1]) end
return token`,

	Claim: `local set = {'SET', KEYS[1], ARGV[1], 'NX'}
if ARGV[2] then set[5], set[6] = 'PX', ARGV[2] end
local reply = redis.pcall(unpack(set))
if reply and reply.err then return reply end
if not reply then
  local value = redis.pcall('GET', KEYS[1])
  if type(value) == 'table' then return value end
  if value ~= ARGV[1] then return 0 end
end
local token = 1
if KEYS[2] then token = redis.pcall('INCR', KEYS[2]) end
if type(token) == 'table' then
  if reply then redis.call('DEL', KEYS[1]) end
elseif not reply then
  table.remove(set, 4)
  redis.call(unpack(set))
end
return token`,

	Extend: `local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then return value end
if value ~= ARGV[1] then return 0 end
return redis.pcall('PEXPIRE', KEYS[1], ARGV[2])`,

	Replace: `local set = {'SET', KEYS[1], ARGV[1], 'NX'}
if ARGV[3] then set[5], set[6] = 'PX', ARGV[3] end
local reply = redis.pcall(unpack(set))
if reply then return reply.err and reply or 1 end
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then return value end
if value ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
redis.call(unpack(set))
return 1`,
}

// Script returns the Lua text of v, or "" for a command. Its keys are Key and, if
// it is not "", Counter. Its arguments are Value, for Replace then Old, and the
// time to live in milliseconds, which is omitted if it is 0, except for Extend.
//
// Lua counts in float64, so tokens are exact up to 2^53.
func (v Verb) Script() string {
	if int(v) < len(scripts) {
		return scripts[v]
	}
	return ""
}

// Args returns the words of the request as they are sent, with the command's name
// first, or nil for an invalid Verb.
func (c Command) Args() []string {
	switch c.Verb {
	case Get, PTTL, Del, Incr:
		return []string{c.Verb.String(), c.Key}
	case SetNX, GetSet, RPush:
		return []string{c.Verb.String(), c.Key, c.Value}
	case Set:
		args := []string{"SET", c.Key, c.Value}
		if c.NX {
			args = append(args, "NX")
		}
		if c.TTL != 0 {
			args = append(args, "PX", c.millis())
		}
		return args
	case PExpire:
		return []string{"PEXPIRE", c.Key, c.millis()}
	case Wait:
		return []string{"WAIT", strconv.FormatInt(c.N, 10), c.millis()}
	case CompareAndDelete:
		return []string{"EVAL", c.Verb.Script(), "1", c.Key, c.Value}
	case Extend:
		return []string{"EVAL", c.Verb.Script(), "1", c.Key, c.Value, c.millis()}
	case Grant, Claim, Replace:
		args := []string{"EVAL", c.Verb.Script(), "1", c.Key}
		if c.Counter != "" && c.Verb != Replace {
			args[2] = "2"
			args = append(args, c.Counter)
		}
		args = append(args, c.Value)
		if c.Verb == Replace {
			args = append(args, c.Old)
		}
		if c.TTL != 0 {
			args = append(args, c.millis())
		}
		return args
	}
	return nil
}

// Millis returns TTL for the server in whole milliseconds. It rounds up, so that
// a key lives for at least the requested time and a short TTL does not become
// none.
func (c Command) Millis() int64 {
	ms := int64(c.TTL / time.Millisecond)
	if c.TTL%time.Millisecond > 0 {
		ms++
	}
	return ms
}

func (c Command) millis() string { return strconv.FormatInt(c.Millis(), 10) }
