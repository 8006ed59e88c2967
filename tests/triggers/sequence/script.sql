CREATE TABLE t(i int)$$
CREATE TABLE seen(s longlong, i int)$$
CREATE PROCEDURE count {
local function main(e)
    return db:table('seen'):insert({s = db:get_event_sequence(e), i = e.new.i})
end
}$$
CREATE LUA TRIGGER count WITH SEQUENCE ON (TABLE t FOR INSERT WHEN (new.i % 2 = 0))
INSERT INTO t SELECT value FROM generate_series(1, 6)
