CREATE TABLE t1(i int)$$
CREATE TABLE t2(s vutf8)$$
CREATE TABLE seen(tbl cstring(10), what vutf8)$$
CREATE PROCEDURE both {
local function main(e)
    return db:table('seen'):insert({tbl = e.name, what = tostring(e.name == 't1' and e.new.i or e.new.s)})
end
}$$
CREATE LUA TRIGGER both ON (TABLE t1 FOR INSERT), (TABLE t2 FOR INSERT)
INSERT INTO t1 VALUES (1)
INSERT INTO t2 VALUES ('a')
BEGIN
INSERT INTO t2 VALUES ('b')
INSERT INTO t1 VALUES (2)
COMMIT
INSERT INTO t1 VALUES (3)
