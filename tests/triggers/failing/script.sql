CREATE TABLE t(i int)$$
CREATE TABLE seen(i int unique)$$
CREATE TABLE tries(i int)$$
CREATE PROCEDURE see {
local function main(e)
    db:table('tries'):insert({i = e.new.i})
    return db:table('seen'):insert({i = e.new.i})
end
}$$
CREATE LUA TRIGGER see ON (TABLE t FOR INSERT)
INSERT INTO t VALUES (1), (1), (2)
